import type { Database } from 'bun:sqlite'
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** One schema migration: a file of `drizzle/`, embedded as text. */
export interface Migration {
  id: string
  sql: string
}

/** The database and this executable don't match; the message says what to do. */
export class SchemaError extends Error {
  override name = 'SchemaError'
}

export interface MigrateOptions {
  migrations: readonly Migration[]
  /** Folder for the copy that is made before migrating; the newest three are kept. */
  backupDir: string
  appVersion: string
  /** Milliseconds since the epoch. */
  now: number
}

interface AppliedStep {
  id: string
  hash: string
  applied_at: number
  app_version: string
}

const COPIES_KEPT = 3

const LEDGER = `CREATE TABLE IF NOT EXISTS _migrations (
  id TEXT PRIMARY KEY NOT NULL,
  hash TEXT NOT NULL,
  applied_at INTEGER NOT NULL,
  app_version TEXT NOT NULL
) STRICT`

/**
 * Applies pending steps and returns their ids. Copies a database with data first. Throws
 * `SchemaError` if it is newer than this executable or if an applied step was edited later.
 */
export function migrate(client: Database, options: MigrateOptions): string[] {
  client.run(LEDGER)
  const { pending } = migrationStatus(client, options.migrations)
  if (pending.length === 0) return []
  if (holdsData(client)) copyDatabase(client, options, pending[0] as string)
  const steps = options.migrations.filter(({ id }) => pending.includes(id))
  return withoutForeignKeys(client, () =>
    steps.filter((step) => applyStep(client, step, options)).map(({ id }) => id),
  )
}

/** Lists the steps that are applied and those that are pending, without changing the database. */
export function migrationStatus(client: Database, migrations: readonly Migration[]) {
  const applied = appliedSteps(client)
  refuseMisfits(applied, migrations)
  const done = new Set(applied.map(({ id }) => id))
  return { applied, pending: migrations.map(({ id }) => id).filter((id) => !done.has(id)) }
}

/** The id of the newest migration of a database. */
export const latestMigration = (client: Database): string | undefined =>
  appliedSteps(client).at(-1)?.id

function appliedSteps(client: Database): AppliedStep[] {
  const ledger = client.query("SELECT 1 FROM sqlite_schema WHERE name = '_migrations'").get()
  if (!ledger) return []
  return client.query<AppliedStep, []>('SELECT * FROM _migrations ORDER BY id').all()
}

function refuseMisfits(applied: AppliedStep[], migrations: readonly Migration[]) {
  const known = new Map(migrations.map((step) => [step.id, hashOf(step)]))
  for (const { id, hash, app_version } of applied) {
    if (!known.has(id))
      throw new SchemaError(
        `the database was migrated by gatehouse ${app_version}, which is newer than this executable ` +
          `(unknown migration ${id}). Run that version or a later one, or restore a backup.`,
      )
    if (known.get(id) !== hash)
      throw new SchemaError(
        `migration ${id} differs from the one that was applied to this database. Use the official executable, or restore a backup`,
      )
  }
}

/** Rechecks under the write lock, because another process may have applied the step meanwhile. */
function applyStep(client: Database, step: Migration, { now, appVersion }: MigrateOptions) {
  const apply = client.transaction(() => {
    if (client.query('SELECT 1 FROM _migrations WHERE id = ?').get(step.id)) return false
    client.run(step.sql)
    const broken = client.query('PRAGMA foreign_key_check').all()
    if (broken.length > 0) throw new SchemaError(`migration ${step.id} leaves dangling references`)
    client
      .query('INSERT INTO _migrations (id, hash, applied_at, app_version) VALUES (?, ?, ?, ?)')
      .run(step.id, hashOf(step), now, appVersion)
    return true
  })
  return apply.immediate()
}

/** Otherwise a table rebuild deletes referring rows. Has no effect inside a transaction. */
function withoutForeignKeys<T>(client: Database, work: () => T): T {
  client.run('PRAGMA foreign_keys = OFF')
  try {
    return work()
  } finally {
    client.run('PRAGMA foreign_keys = ON')
  }
}

const hashOf = ({ sql }: Migration) => new Bun.CryptoHasher('sha256').update(sql).digest('hex')

const holdsData = (client: Database) =>
  client.query('SELECT 1 FROM _migrations LIMIT 1').get() !== null

function copyDatabase(client: Database, { backupDir, now }: MigrateOptions, firstStep: string) {
  mkdirSync(backupDir, { recursive: true, mode: 0o700 })
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, '-')
  const copy = join(backupDir, `before-${firstStep}-${stamp}-${process.pid}.db`)
  client.query('VACUUM INTO ?').run(copy)
  chmodSync(copy, 0o600)
  dropOldCopies(backupDir)
}

function dropOldCopies(backupDir: string) {
  const copies = readdirSync(backupDir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^before-.+\.db$/.test(entry.name))
    .map(({ name }) => name)
  const byAge = copies.toSorted((a, b) => stampOf(b).localeCompare(stampOf(a)))
  for (const name of byAge.slice(COPIES_KEPT)) rmSync(join(backupDir, name))
}

/** The timestamp of a backup's file name, after the step's: `…-2026-01-31T12-00-00-000Z-…`. */
const stampOf = (name: string) => name.match(/\d{4}-\d\d-\d\dT[\d-]+Z/)?.[0] ?? ''
