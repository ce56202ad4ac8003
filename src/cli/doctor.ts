import { existsSync, statfsSync, statSync } from 'node:fs'
import { migrations } from '../../drizzle/index.ts'
import type { Config } from '../config/index.ts'
import { migrationStatus } from '../db/migrate.ts'
import { type Db, databaseExists } from '../db/open.ts'
import { botsInTrouble } from '../engines/passepartout/index.ts'
import { masterKeyFile, readMasterKey } from '../platform/master-key.ts'
import { knownMasterKeys, misfit } from '../platform/master-key-store.ts'
import { type Command, EXIT, type Invocation, table } from './command.ts'
import { openConfigured } from './open.ts'

interface Finding {
  check: string
  result: 'ok' | 'warning' | 'problem'
  message: string
}

export const doctor: Command = {
  name: 'doctor',
  summary: 'Look for what is wrong with this installation, and say what to do.',
  run: ({ config, loaded, io }) => {
    const findings = [
      ...configuration(loaded),
      environment(io.env),
      exposure(config),
      ...examined('data directory', () => dataDirectory(config)),
      ...examined('database', () =>
        databaseExists(config.dataDir) ? database(config) : withoutDatabase(config),
      ),
    ]
    const failed = findings.some(({ result }) => result === 'problem')
    return {
      json: { ok: !failed, findings },
      text: table(findings.map(({ check, result, message }) => [result, check, message])),
      exit: failed ? EXIT.failure : EXIT.ok,
    }
  },
}

const ok = (check: string, message: string): Finding => ({ check, result: 'ok', message })
const warning = (check: string, message: string): Finding => ({ check, result: 'warning', message })
const problem = (check: string, message: string): Finding => ({ check, result: 'problem', message })

/** A check that cannot be made is a finding too, and keeps no other from being made. */
function examined(check: string, findings: () => Finding[]): Finding[] {
  try {
    return findings()
  } catch (error) {
    return [problem(check, error instanceof Error ? error.message : String(error))]
  }
}

const configuration = ({ file, warnings }: Invocation['loaded']): Finding[] => [
  ok('configuration', file ? `read from ${file}` : 'no file; defaults and environment'),
  ...warnings.map(({ at, message }) => warning('configuration', `${at}: ${message}`)),
]

/** Outbound calls check certificates whatever this says; other programs do not. */
const environment = (env: Invocation['io']['env']): Finding =>
  env.NODE_TLS_REJECT_UNAUTHORIZED === '0'
    ? warning(
        'environment',
        'NODE_TLS_REJECT_UNAUTHORIZED=0 is set; jobs check certificates all the same',
      )
    : ok('environment', 'nothing in the way')

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

function exposure({ server }: Config): Finding {
  const isPublic = server.baseUrl !== undefined && !LOOPBACK.has(new URL(server.baseUrl).hostname)
  if (isPublic && LOOPBACK.has(server.host) && server.trustedProxies.length === 0)
    return warning(
      'network',
      `base_url is public and ${server.host} is not: name the reverse proxy in server.trusted_proxies`,
    )
  if (!LOOPBACK.has(server.host) && server.baseUrl?.startsWith('http:'))
    return warning('network', 'base_url is plain http on an open address: keys travel readable')
  return ok('network', `${server.host}:${server.port}`)
}

function dataDirectory({ dataDir }: Config): Finding[] {
  const check = 'data directory'
  if (!existsSync(dataDir)) return [ok(check, `${dataDir} will be made at the first start`)]
  return [permissions(dataDir), fileSystem(dataDir), space(dataDir)]
}

function permissions(dataDir: string): Finding {
  const mode = modeForOthers(dataDir)
  return mode === undefined
    ? ok('data directory', dataDir)
    : warning('data directory', `others can read ${dataDir} (mode ${mode}): chmod 700`)
}

/** As `chmod` takes it, and only where it grants others something. */
function modeForOthers(path: string): string | undefined {
  const mode = statSync(path).mode & 0o777
  return (mode & 0o077) === 0 ? undefined : mode.toString(8)
}

/** SQLite's locks do not hold there, which ends in a damaged file. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x65735546, 'FUSE'],
])

function fileSystem(dataDir: string): Finding {
  const kind = NETWORK_FILE_SYSTEMS.get(statfsSync(dataDir).type)
  return kind
    ? problem('file system', `${dataDir} is on ${kind}: keep the data on a local disk`)
    : ok('file system', 'local')
}

const LEAST_FREE_BYTES = 200 * 1024 * 1024

function space(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  const message = `${Math.floor(free / 1024 / 1024)} MB free`
  return free < LEAST_FREE_BYTES ? problem('disk', `only ${message}`) : ok('disk', message)
}

function database(config: Config): Finding[] {
  const db = openConfigured(config)
  try {
    return [
      ...examined('schema', () => [schema(db)]),
      ...examined('integrity', () => [integrity(db)]),
      ...examined('clock', () => [clock(db)]),
      ...examined('master key', () => [masterKey(config, knownMasterKeys(db))]),
      ...examined('bots', () => bots(db)),
    ]
  } finally {
    db.close()
  }
}

/** One that was put here before the database is looked at all the same. */
const withoutDatabase = (config: Config): Finding[] =>
  existsSync(config.dataDir) ? examined('master key', () => [masterKey(config, [])]) : []

function schema({ client }: Db): Finding {
  try {
    const { pending } = migrationStatus(client, migrations)
    return pending.length === 0
      ? ok('schema', 'up to date')
      : warning('schema', `${pending.length} to apply at the next start`)
  } catch (error) {
    return problem('schema', error instanceof Error ? error.message : String(error))
  }
}

function integrity({ client }: Db): Finding {
  const [first] = client.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').all()
  return first?.quick_check === 'ok'
    ? ok('integrity', 'the database file is sound')
    : problem('integrity', `${first?.quick_check}: restore a backup`)
}

/** A clock that was once ahead makes due work wait until it gets there again. */
function clock({ client }: Db): Finding {
  const latest = client
    .query<{ at: number | null }, []>('SELECT max(applied_at) AS at FROM _migrations')
    .get()?.at
  return latest && latest > Date.now() + 60_000
    ? problem(
        'clock',
        `this machine is behind the time at which the database was made: set its clock`,
      )
    : ok('clock', new Date().toISOString())
}

/** Those that people sign in with and that do not receive; nothing where there are none. */
function bots(db: Db): Finding[] {
  if (migrationStatus(db.client, migrations).pending.length > 0) return []
  return botsInTrouble(db).map(({ tenant_id, username, trouble }) =>
    warning('bots', `@${username} of tenant ${tenant_id}: ${trouble}`),
  )
}

/** Looks only: the server makes the key, and takes from others the right to read it. */
function masterKey({ dataDir }: Config, known: string[]): Finding {
  const check = 'master key'
  const key = readMasterKey(dataDir)
  const objection = misfit({ dataDir, key, known })
  if (objection) return problem(check, objection)
  if (!key) return ok(check, 'will be made at the next start')
  const file = masterKeyFile(dataDir)
  const mode = modeForOthers(file)
  return mode === undefined
    ? ok(check, `${file}, id ${key.id}`)
    : warning(check, `others can read ${file} (mode ${mode}): chmod 600`)
}
