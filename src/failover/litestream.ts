import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { invalid, unavailable } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import { type ObjectStorageSettings, parseObjectUrl } from '../platform/object-storage/index.ts'

/**
 * How often a copy looks for what is new. A look costs nine requests if there is nothing, and files
 * are fetched one after the other, so a copy must not be many of them behind when it is needed.
 */
const FOLLOW_INTERVALS = { calm: '5s', busy: '1s', urgent: '100ms' }

/** How closely a copy follows: a server with few writes, with many, or one that is gone. */
export type Pace = keyof typeof FOLLOW_INTERVALS

/** Linux has no room for a longer name of a socket. */
const MAX_SOCKET_BYTES = 107

/** Lines of Litestream that say the same, apart from numbers, appear in the log once in this time. */
const REPEAT_MS = 60_000

/** What it gets of the environment. Others would change what it does, such as `AWS_CA_BUNDLE`. */
const INHERITED = ['PATH', 'HOME', 'SSL_CERT_FILE', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']

/** The oldest version whose confirmations can be relied on. */
const OLDEST = '0.5.9'

/** A run of Litestream. */
export interface LitestreamProcess {
  /** Resolves with its exit code. */
  exited: Promise<number>
  /** Ends it after a last upload, or the file that it is applying. */
  stop: () => void
  kill: () => void
  /** Whether it has not ended. */
  isRunning: () => boolean
  /** The last line that it wrote. */
  lastLine: () => string
}

export type Litestream = ReturnType<typeof createLitestream>

/**
 * Runs Litestream as a child process for one database. Its files are in `folder`; a path is one in
 * `to`, the folder in object storage.
 */
export function createLitestream(parts: {
  program: string
  folder: string
  database: string
  storage: ObjectStorageSettings
  to: string
  env: Readonly<Record<string, string | undefined>>
  log: Log
}) {
  const { program, folder, database, storage, to, env, log } = parts
  const socket = join(folder, 'litestream.sock')
  if (Buffer.byteLength(socket) > MAX_SOCKET_BYTES)
    throw invalid(
      `${socket} is too long for the name of a socket. Use a data directory with a shorter name`,
      { rule: 'too_long' },
    )
  const said = new Map<string, number>()

  /** Uploads what is committed to the database, until it ends. */
  const replicate = (path: string) => run(['replicate', '-config', configure('replicate', path)])

  /** Keeps a copy of what another server uploads in `file`, and its position in `file-txid`. */
  const follow = (path: string, file: string, pace: Pace) =>
    run([
      ...['restore', '-config', configure('follow', path), '-f'],
      ...['-follow-interval', FOLLOW_INTERVALS[pace], '-o', file, database],
    ])

  /** Restores the state after a transaction to `file`, and ends. */
  const restore = (path: string, txid: string, file: string) =>
    run(['restore', '-config', configure('restore', path), '-txid', txid, '-o', file, database])

  function configure(name: string, path: string): string {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, `${name}.yml`)
    writeFileSync(file, configuration(path), { mode: 0o600 })
    chmodSync(file, 0o600)
    return file
  }

  /** Strings of JSON are strings of YAML, too. */
  function configuration(path: string): string {
    const { bucket, key } = parseObjectUrl(to)
    const prefix = key === '' ? '' : `${key.replace(/\/+$/, '')}/`
    const { endpoint, region } = storage
    return [
      'socket:',
      '  enabled: true',
      `  path: ${JSON.stringify(socket)}`,
      'logging:',
      '  level: warn',
      '  stderr: true',
      'dbs:',
      `  - path: ${JSON.stringify(database)}`,
      '    monitor-interval: 1s',
      '    busy-timeout: 5s',
      // A forced checkpoint would stop writes while the whole database is uploaded.
      '    truncate-page-n: 2000000',
      '    replica:',
      '      type: s3',
      `      bucket: ${JSON.stringify(bucket)}`,
      `      path: ${JSON.stringify(`${prefix}${path}`)}`,
      `      region: ${JSON.stringify(region)}`,
      ...(endpoint
        ? [`      endpoint: ${JSON.stringify(endpoint)}`, '      force-path-style: true']
        : []),
      '      sync-interval: 1s',
      '',
    ].join('\n')
  }

  function run(args: readonly string[]): LitestreamProcess {
    const child = spawned(args)
    let hasEnded = false
    let lastLine = ''
    const reported = report(child.stderr, (line) => {
      lastLine = line
    })
    const exited = child.exited.then(async (code) => {
      await reported
      hasEnded = true
      return code
    })
    return {
      exited,
      stop: () => child.kill('SIGTERM'),
      kill: () => child.kill('SIGKILL'),
      isRunning: () => !hasEnded,
      lastLine: () => lastLine,
    }
  }

  /** A session of its own, because a terminal sends its signals to all processes of a session. */
  function spawned(args: readonly string[]) {
    try {
      return Bun.spawn([program, ...args], {
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
        env: {
          ...Object.fromEntries(INHERITED.map((name) => [name, env[name]])),
          LITESTREAM_ACCESS_KEY_ID: storage.accessKeyId,
          LITESTREAM_SECRET_ACCESS_KEY: storage.secretAccessKey,
        },
      })
    } catch {
      throw cannotRun(program)
    }
  }

  async function report(stream: ReadableStream<Uint8Array>, keep: (line: string) => void) {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of stream) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = (lines.pop() ?? '').slice(0, 10_000)
      for (const line of lines) note(line, keep)
    }
    note(rest, keep)
  }

  function note(line: string, keep: (line: string) => void) {
    if (line.trim() === '') return
    keep(line)
    const kind = line.replaceAll(/[0-9a-f]*\d[0-9a-f]*/g, '#')
    const now = performance.now()
    if (now - (said.get(kind) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return
    if (said.size > 100) said.clear()
    said.set(kind, now)
    log.warn('litestream', { line: line.trim().slice(0, 500) })
  }

  return { socket, replicate, follow, restore, killAll }

  /** Kills all runs, such as those that a killed server left behind, because two must not write to one path or file. */
  function killAll() {
    const isConfiguration = (argument: string) =>
      argument.startsWith(`${folder}/`) && argument.endsWith('.yml')
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      if (argumentsOf(pid).some(isConfiguration)) killIfAny(Number(pid))
  }
}

function killIfAny(pid: number) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended, or is not ours.
  }
}

/** The command line of a process; empty if it is not ours, or has ended. */
function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

/** The version of the program. Throws `unavailable` if it can't be run or is too old. */
export function requireLitestream(program: string): string {
  const printed = versionOf(program)
  const version = /\d+\.\d+\.\d+/.exec(printed)?.[0]
  if (version === undefined || Bun.semver.order(version, OLDEST) < 0)
    throw unavailable(`${program} is version ${printed}. Install Litestream ${OLDEST} or later`)
  return version
}

function versionOf(program: string): string {
  try {
    return Bun.spawnSync([program, 'version']).stdout.toString().trim()
  } catch {
    throw cannotRun(program)
  }
}

const cannotRun = (program: string) =>
  unavailable(`Litestream cannot be run as ${program}. Install it, or set [replication] litestream`)
