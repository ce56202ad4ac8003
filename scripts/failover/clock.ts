import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf } from './processes.ts'
import type { Server } from './server.ts'

/**
 * Replaces what programs read the time of day by, and adds the seconds in a file, which can change while
 * they run. Litestream, which is linked statically, keeps the right time: it only writes it into
 * the headers of its files.
 */
const SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t none = 0;
static volatile int64_t *offset = &none;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("RIG_CLOCK");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *page = mmap(0, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  if (page != MAP_FAILED) offset = page;
  close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  int result = syscall(SYS_clock_gettime, clock, at);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    at->tv_sec += *offset;
  return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into) *into = now.tv_sec;
  return now.tv_sec;
}
`

const fileOf = ({ dataDir }: Pick<Server, 'dataDir'>) => `${dataDir}.clock`

/** Sets the clock of a server, which it must have been given before, by seconds. */
export function jump(server: Server, seconds: number) {
  const bytes = new BigInt64Array([BigInt(seconds)])
  writeFileSync(fileOf(server), new Uint8Array(bytes.buffer), { flag: 'r+' })
}

/** Gives servers clocks of their own, from their next start on. Needs a compiler of C. */
export async function giveClocks(servers: readonly Server[], folder: string) {
  const [source, library] = [join(folder, 'clock.c'), join(folder, 'clock.so')]
  await Bun.write(source, SOURCE)
  await outputOf(['cc', '-shared', '-fPIC', '-O2', '-o', library, source], {
    cwd: folder,
    env: process.env,
  })
  for (const server of servers) {
    writeFileSync(fileOf(server), new Uint8Array(8))
    server.setEnvironment({ LD_PRELOAD: library, RIG_CLOCK: fileOf(server) })
  }
}
