import { beforeAll } from 'bun:test'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyPair } from '../../../../src/platform/backup/encryption.ts'
import type { Report } from '../../../../src/platform/replication/reports.ts'
import { BINARY, collect, command, compileBinary, until } from '../../../support/binary.ts'
import { installLitestream } from '../../../support/fake-litestream.ts'
import { temporaryFolder } from '../../../support/folder.ts'
import { freePort } from '../../../support/port.ts'
import { startS3Server } from '../../../support/s3-server.ts'

beforeAll(compileBinary, 120_000)

/** The shortest one. */
export const TTL_MS = 3000

export type Member = ReturnType<typeof openMember>

/** Deriving a key from a passphrase takes each server a second of a processor, each time. */
export type Secret = 'key file' | 'passphrase'

/** Servers that share a bucket. Each has a data directory of its own. */
export async function openPair(stack: AsyncDisposableStack, secret: Secret) {
  const { path: cwd } = stack.use(temporaryFolder())
  const s3 = stack.use(startS3Server())
  const litestream = installLitestream(cwd)
  const keyFile = join(cwd, 'pair.key')
  await Bun.write(keyFile, (await newKeyPair()).identity)
  const sealedBy: Record<string, string> =
    secret === 'key file'
      ? { GATEHOUSE_REPLICATION_KEY_FILE: keyFile }
      : { GATEHOUSE_REPLICATION_PASSPHRASE: 'four words of chance' }

  function member(name: string) {
    const given = {
      ...s3.envOf(name),
      GATEHOUSE_DATABASE_EXTERNAL_CHECKPOINT: 'true',
      GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.0/8',
      GATEHOUSE_LIMITS_REQUESTS_PER_MINUTE: '10000000',
      GATEHOUSE_REPLICATION_ROLE: 'auto',
      GATEHOUSE_REPLICATION_TO: 's3://bucket/gatehouse',
      GATEHOUSE_REPLICATION_LITESTREAM: litestream,
      GATEHOUSE_REPLICATION_ACKNOWLEDGE: 'replicated',
      ...sealedBy,
    }
    return openMember(stack, { cwd, name, s3, given })
  }

  return { s3, member }
}

interface Place {
  cwd: string
  name: string
  /** The bucket that the servers share. */
  s3: Pick<ReturnType<typeof startS3Server>, 'objects'>
  /** Settings beside the name, the port and the data directory. */
  given: Record<string, string>
}

/** One of several servers. */
export function openMember(stack: AsyncDisposableStack, { cwd, name, s3, given }: Place) {
  const dataDir = join(cwd, name)
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const env = {
    PATH: process.env.PATH ?? '',
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_SERVER_PORT: `${port}`,
    GATEHOUSE_REPLICATION_SERVER: name,
    GATEHOUSE_REPLICATION_TTL: `${TTL_MS}ms`,
    ...given,
  }
  let log = { text: '' }
  let child: ReturnType<typeof spawn> | undefined

  const spawn = (args: string[]) =>
    Bun.spawn([BINARY, 'serve', ...args], { cwd, env, stdout: 'pipe', stderr: 'ignore' })

  function start(...args: string[]) {
    const started = spawn(args)
    child = started
    log = collect(started.stdout)
    stack.defer(() => kill())
  }

  /** All processes of this server, of which the first one started the others. */
  const processes = () => (child ? [child.pid, ...processesWith(dataDir)] : [])

  function signal(name: NodeJS.Signals) {
    for (const pid of processes()) tryKill(pid, name)
  }

  async function kill() {
    signal('SIGKILL')
    await child?.exited
  }

  const readiness = () =>
    fetch(`${url}/readyz`).then(
      async (response) => ((await response.json()) as { status: string }).status,
      () => 'unreachable',
    )

  const becomes = (status: string, withinMs = 30_000) =>
    until(
      async () => (await readiness()) === status,
      () => `${name}: ${log.text}`,
      withinMs,
    )

  const run = (...args: string[]) => command({ cwd, env, args })

  /** Read from the bucket, because each command takes time of the machine. */
  const stands = () =>
    until(
      () =>
        reportsIn(s3).some(
          (report) =>
            report.name === name && report.isReady && Date.now() - report.reportedAt < TTL_MS,
        ),
      () => `${name}: ${log.text}`,
      30_000,
    )

  return {
    ...{ name, dataDir, url, start, signal, kill, readiness, becomes, run },
    log: () => log.text,
    /** Waits until the standby has reported that it could take over. */
    isReady: stands,
    /** Ends it in order. */
    terminate: () => {
      child?.kill('SIGTERM')
      return child?.exited
    },
    loseDisk: () => rmSync(dataDir, { recursive: true, force: true }),
  }
}

const reportsIn = ({ objects }: Place['s3']): Report[] =>
  [...objects]
    .filter(([key]) => key.includes('/servers/'))
    .map(([, { body }]) => JSON.parse(new TextDecoder().decode(body)))

/** The processes that have a data directory in their environment or command line. */
const processesWith = (dataDir: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => ['environ', 'cmdline'].some((part) => textOf(pid, part).includes(dataDir)))
    .map(Number)
    .filter((pid) => pid !== process.pid)

function textOf(pid: string, part: string): string {
  try {
    return readFileSync(`/proc/${pid}/${part}`, 'utf8')
  } catch {
    return ''
  }
}

function tryKill(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}
