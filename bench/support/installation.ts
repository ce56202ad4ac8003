import { Database } from 'bun:sqlite'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUIDv7 } from 'bun'
import { migrations } from '../../drizzle/index.ts'
import { BUSY_TIMEOUT_MS } from '../../src/db/commit.ts'
import { migrate } from '../../src/db/migrate.ts'
import { databaseFile, openDatabase } from '../../src/db/open.ts'
import { createAudit } from '../../src/platform/audit/index.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createKeys } from '../../src/platform/keys/index.ts'
import { createTenants, type Plan } from '../../src/platform/tenants.ts'
import { type Server, startServer } from './server.ts'

const ACTOR = { kind: 'cli', source: 'bench' } as const

export interface Resident {
  id: string
  key: string
}

export interface Installation {
  dataDir: string
  residents: Resident[]
}

/** A folder that goes when the stack is disposed. */
export function temporaryFolder(stack: AsyncDisposableStack): string {
  const path = join(tmpdir(), `gatehouse-bench-${randomUUIDv7()}`)
  stack.defer(() => rmSync(path, { recursive: true, force: true }))
  mkdirSync(path, { mode: 0o700 })
  return path
}

/** A migrated database, open: fsync at each commit, as served by default. */
export function openInstallationDatabase(dataDir: string) {
  const db = openDatabase({ dataDir, synchronous: 'full' })
  const backupDir = join(dataDir, 'backups')
  migrate(db.client, { migrations, backupDir, appVersion: 'bench', now: systemClock.now() })
  return db
}

/** The bare file, also while the program runs on it and writes now and then. */
export function openBeside({ dataDir }: Pick<Installation, 'dataDir'>): Database {
  const client = new Database(databaseFile(dataDir), { strict: true })
  client.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  return client
}

/** A new data directory with tenants, each with a clockwork key. */
export async function createInstallation(
  stack: AsyncDisposableStack,
  tenants = 1,
  plan: Plan = 'unlimited',
): Promise<Installation> {
  const dataDir = temporaryFolder(stack)
  const db = openInstallationDatabase(dataDir)
  const parts = { db, clock: systemClock, audit: createAudit({ db, clock: systemClock }) }
  const keys = createKeys({ ...parts, prefix: 'svc' })
  const offices = { tenants: createTenants({ ...parts, onChange: keys.forget }), keys }
  const residents = []
  for (let n = 0; n < tenants; n++) residents.push(await moveIn(offices, n, plan))
  db.close()
  return { dataDir, residents }
}

async function moveIn(
  {
    tenants,
    keys,
  }: Record<'tenants', ReturnType<typeof createTenants>> &
    Record<'keys', ReturnType<typeof createKeys>>,
  n: number,
  plan: Plan,
): Promise<Resident> {
  const { id } = await tenants.create(ACTOR, { name: `Tenant ${n}`, plan })
  const { key } = await keys.issue(ACTOR, { tenantId: id, engines: ['clockwork'] })
  return { id, key }
}

/** A key of the first tenant. */
export async function issueKey(
  { dataDir, residents }: Installation,
  engine: 'gate' | 'relay' | 'passepartout',
  environment: 'live' | 'test' = 'live',
): Promise<{ tenantId: string; key: string }> {
  const tenantId = residents[0]?.id ?? ''
  const db = openInstallationDatabase(dataDir)
  const parts = { db, clock: systemClock, audit: createAudit({ db, clock: systemClock }) }
  const keys = createKeys({ ...parts, prefix: 'svc' })
  const { key } = await keys.issue(ACTOR, { tenantId, engines: [engine], environment })
  db.close()
  return { tenantId, key }
}

/** A copy of the data directory of a closed installation. */
export function copyInstallation(stack: AsyncDisposableStack, { dataDir }: Installation): string {
  const copy = temporaryFolder(stack)
  cpSync(dataDir, copy, { recursive: true })
  return copy
}

/** Rate limits are disabled, because they are not measured. Ticks take a second, to keep waits short. */
export const FLAGS = {
  'server-port': '0',
  'log-format': 'json',
  'limits-requests-per-minute': '10000000',
  'outbound-allow': '127.0.0.0/8',
  'clockwork-tick': '1s',
}

/** The program as it is run from a checkout, on a free port, in a process of its own. */
export const serveInstallation = (
  stack: AsyncDisposableStack,
  { dataDir }: Installation,
  env: Record<string, string> = {},
): Promise<Server> => startServer(stack, serveCommand(dataDir), env)

/** What to type to serve a data directory. */
export const serveCommand = (dataDir: string, program = [process.execPath, 'src/main.ts']) => [
  ...program,
  'serve',
  ...Object.entries({ ...FLAGS, 'data-dir': dataDir }).map(([name, value]) => `--${name}=${value}`),
]
