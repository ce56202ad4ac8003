import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ACCESS_KEY, FOLDER_URL } from './bucket.ts'
import type { Options } from './options.ts'
import { freePort } from './ports.ts'
import { outputOf, type Running, run } from './processes.ts'
import type { BucketProxy } from './proxy.ts'

const STOPPING_MS = 30_000

export type Server = Awaited<ReturnType<typeof createServer>>

/** One of the two servers, with a data directory, a port and a way to the bucket of its own. */
export async function createServer(given: {
  name: string
  folder: string
  proxy: BucketProxy
  options: Options
}) {
  const { name, folder, proxy, options } = given
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const dataDir = join(folder, name)
  const log = join(folder, `${name}.log`)
  let executable = resolve(options.executable)
  let extraEnv: Record<string, string> = {}
  let running: Running | undefined
  let generation = 0

  const env = () => ({
    ...{ PATH: process.env.PATH, HOME: process.env.HOME },
    ...settings({ dataDir, port, name, proxy, folder, options }),
    ...extraEnv,
  })

  function start({ isStandby }: { isStandby: boolean }) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const command = [executable, 'serve', ...(isStandby ? ['--standby'] : [])]
    running = run(command, { cwd: folder, env: env(), log, onLine: note })
  }

  function note(line: string) {
    const entry = entryIn(line)
    if (!entry) return
    if (entry.message === 'this server becomes active') generation = entry.generation ?? generation
    const isProblem = entry.level === 'warn' || entry.level === 'error'
    if (options.verbose && isProblem && entry.message !== 'request')
      console.log(`    ${name}: ${line}`)
  }

  /** Ends it in order. */
  async function stop() {
    if (!running) return
    process.kill(running.pid, 'SIGTERM')
    const ended = await Promise.race([running.exited, Bun.sleep(STOPPING_MS)])
    if (ended === undefined) await running.kill()
    running = undefined
  }

  async function kill() {
    await running?.kill()
    running = undefined
  }

  return {
    ...{ name, url, dataDir, proxy, start, stop, kill },
    /** The last generation in which it was active. */
    generation: () => generation,
    pause: () => running?.signal('SIGSTOP'),
    resume: () => running?.signal('SIGCONT'),
    wipe: () => rmSync(dataDir, { recursive: true, force: true }),
    use: (file: string) => {
      executable = file
    },
    setEnvironment: (more: Record<string, string>) => {
      extraEnv = more
    },
    command: (...args: string[]) => outputOf([executable, ...args], { cwd: folder, env: env() }),
    /** A command before the first start, while the server is not one of a pair. */
    commandAlone: (...args: string[]) =>
      outputOf([executable, ...args], {
        cwd: folder,
        env: { ...env(), GATEHOUSE_REPLICATION_ROLE: 'single' },
      }),
    isServing: () => answersOk(`${url}/readyz`),
  }
}

function settings(given: {
  dataDir: string
  port: number
  name: string
  proxy: BucketProxy
  folder: string
  options: Options
}): Record<string, string> {
  const { dataDir, port, name, proxy, folder, options } = given
  return {
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_SERVER_HOST: '127.0.0.1',
    GATEHOUSE_SERVER_PORT: `${port}`,
    ...(options.processes && { GATEHOUSE_SERVER_PROCESSES: options.processes }),
    GATEHOUSE_SERVER_DRAIN: '0s',
    GATEHOUSE_LOG_FORMAT: 'json',
    GATEHOUSE_LIMITS_REQUESTS_PER_MINUTE: '10000000',
    GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.0/8',
    GATEHOUSE_CLOCKWORK_TICK: '1s',
    GATEHOUSE_DATABASE_EXTERNAL_CHECKPOINT: 'true',
    GATEHOUSE_REPLICATION_ROLE: 'auto',
    GATEHOUSE_REPLICATION_TO: FOLDER_URL,
    GATEHOUSE_REPLICATION_SERVER: name,
    GATEHOUSE_REPLICATION_TTL: options.ttl,
    GATEHOUSE_REPLICATION_ACKNOWLEDGE: options.acknowledge,
    GATEHOUSE_REPLICATION_CHECK_LEASE: options.checkLease,
    GATEHOUSE_REPLICATION_KEY_FILE: join(folder, 'pair.key'),
    GATEHOUSE_S3_ENDPOINT: `http://127.0.0.1:${proxy.port}`,
    GATEHOUSE_S3_REGION: 'us-east-1',
    GATEHOUSE_S3_ACCESS_KEY_ID: ACCESS_KEY.id,
    GATEHOUSE_S3_SECRET_ACCESS_KEY: ACCESS_KEY.secret,
  }
}

function entryIn(line: string) {
  try {
    return JSON.parse(line) as { level?: string; message?: string; generation?: number }
  } catch {
    return undefined
  }
}

const answersOk = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(1000) }).then(
    ({ ok }) => ok,
    () => false,
  )
