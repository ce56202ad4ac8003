import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './ports.ts'
import { run } from './processes.ts'

export const ACCESS_KEY = { id: 'rig-access-key', secret: 'rig-secret-key' }
export const FOLDER_URL = 's3://failover/pair'

/** The members of the lease that the rig reads. */
export interface Lease {
  generation: number
  server: { id: string; name: string }
  state: string
  cause: string
  lossMs?: number
}

/** What a standby says of itself. */
export interface Report {
  name: string
  isReady: boolean
  reason?: string
  /** By the clock of this machine. */
  writtenAt: number
}

export type Bucket = Awaited<ReturnType<typeof startBucket>>

/** Object storage in a folder, which the rig can read as files. */
export async function startBucket(folder: string) {
  const root = join(folder, 'bucket')
  mkdirSync(join(root, 'failover'), { recursive: true })
  const port = await freePort()
  const access = ['--access', ACCESS_KEY.id, '--secret', ACCESS_KEY.secret]
  const server = run(
    ['versitygw', '--port', `127.0.0.1:${port}`, ...access, '--quiet', 'posix', root],
    { cwd: folder, env: process.env, log: join(folder, 'bucket.log') },
  )
  await answering(`http://127.0.0.1:${port}/`)
  const inFolder = (...names: string[]) => join(root, 'failover', 'pair', ...names)

  return {
    port,
    lease: () => readJson<Lease>(inFolder('lease.json')),
    /** What the standbys say, oldest first. */
    reports: () =>
      namesIn(inFolder('servers'))
        .flatMap((name) => {
          const file = inFolder('servers', name)
          const report = readJson<Omit<Report, 'writtenAt'>>(file)
          return report ? [{ ...report, writtenAt: statSync(file).mtimeMs }] : []
        })
        .toSorted((a, b) => a.writtenAt - b.writtenAt),
    stop: () => server.kill(),
  }
}

async function answering(url: string) {
  for (let attempts = 0; attempts < 100; attempts++) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isUp) return
    await Bun.sleep(100)
  }
  throw new Error('versitygw does not answer')
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Undefined if it is absent, or being written. */
function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T
  } catch {
    return undefined
  }
}
