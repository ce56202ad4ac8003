import type { Bench } from './support/bench.ts'
import { compileFloor, compileProgram, copyExecutable } from './support/compiled.ts'
import { withCpu } from './support/cpu.ts'
import { compare } from './support/figure.ts'
import { createInstallation, temporaryFolder } from './support/installation.ts'
import type { Sample } from './support/rounds.ts'
import { type Server, startServer } from './support/server.ts'
import { storeJobs } from './support/stored-jobs.ts'
import { activity, holdings } from './support/vitals.ts'

const JOBS = 10_000
const MINUTE_MS = 60_000
/** Of the time, and no more than this: the last stretch is what is measured. */
const LAST_SHARE = 2
const MAX_RANGE_MS = 10 * MINUTE_MS

/** Of the memory of one process, in MB. */
const TARGETS: Record<string, string> = { 'RSS MB': '<= 80 MB' }

const UNITS = [
  'RSS MB',
  'PSS MB',
  'own MB',
  'CPU ms/s',
  'wakes/s',
  'KB written/s',
  'descriptors',
  'threads',
]

/**
 * The released executable with default settings and without requests, this many minutes after
 * its start: on a fresh data directory, and with jobs stored; beside a bare server of its shape.
 */
export const rest: Bench = async ({ stack, rounds, minutes, note }) => {
  const servers = await startAll(stack)
  const atFirst = holdings(servers.fresh.pid)
  const stretchMs = Math.min((minutes * MINUTE_MS) / LAST_SHARE, MAX_RANGE_MS)
  await Bun.sleep(minutes * MINUTE_MS - stretchMs)
  const samples = await watch(servers, rounds, stretchMs / rounds)
  const mb = (held: Sample) => (held['RSS MB'] ?? Number.NaN).toFixed(0)
  note(
    `rest: the RSS of the program was ${mb(atFirst)} MB when it began to listen, and ` +
      `${mb(holdings(servers.fresh.pid))} MB after ${minutes} minutes`,
  )
  const beside = (subject: Sample[], name: string) =>
    UNITS.map((unit) => compare(name, unit, { subject, floor: samples.floor }, TARGETS[unit]))
  return [
    ...beside(samples.fresh, 'fresh : bare server'),
    ...beside(samples.stored, `${JOBS.toLocaleString('en')} jobs : bare server`),
  ]
}

type Name = 'fresh' | 'stored' | 'floor'

/** Each from a file of its own, so that none has its pages from another. */
async function startAll(stack: AsyncDisposableStack): Promise<Record<Name, Server>> {
  const program = await compileProgram(stack)
  const serve = (executable: string, dataDir: string) =>
    startServer(stack, [
      executable,
      ...['serve', '--server-port=0', '--log-format=json', `--data-dir=${dataDir}`],
    ])
  const { dataDir } = await storeJobs(await createInstallation(stack), JOBS)
  const floor = await compileFloor(stack, 'rest')
  return {
    fresh: await serve(program, temporaryFolder(stack)),
    stored: await serve(copyExecutable(stack, program), dataDir),
    floor: await startServer(stack, [floor, temporaryFolder(stack)]),
  }
}

/** All at the same time, because they don't affect each other. */
async function watch(servers: Record<Name, Server>, rounds: number, ms: number) {
  const samples: Record<Name, Sample[]> = { fresh: [], stored: [], floor: [] }
  for (let round = 0; round < rounds; round++) {
    const [fresh, stored, floor] = await Promise.all([
      watchOne(servers.fresh, ms),
      watchOne(servers.stored, ms),
      watchOne(servers.floor, ms),
    ])
    samples.fresh.push(fresh)
    samples.stored.push(stored)
    samples.floor.push(floor)
  }
  return samples
}

async function watchOne({ pid }: Server, ms: number): Promise<Sample> {
  const before = activity(pid)
  const { cpu } = await withCpu(pid, () => Bun.sleep(ms))
  const after = activity(pid)
  const seconds = ms / 1000
  return {
    ...holdings(pid),
    'CPU ms/s': cpu / seconds,
    'wakes/s': (after.waits - before.waits) / seconds,
    'KB written/s': (after.writtenKb - before.writtenKb) / seconds,
  }
}
