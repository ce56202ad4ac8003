import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { PORTABLE_TABLES, SCHEMAS } from '../../../src/console/portable-tables.ts'
import type { Db } from '../../../src/db/open.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import { exportLines } from '../../../src/platform/portable/export.ts'
import { importTenant } from '../../../src/platform/portable/import.ts'
import { openScratch } from '../../../src/platform/portable/scratch.ts'
import { openSnapshot } from '../../../src/platform/portable/snapshot.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/folder.ts'
import type { Line } from './lines.ts'

export * from './lines.ts'

export const ACTOR = { kind: 'cli', source: 'test' } as const

export function exportOf(
  { db, platform, clock }: TestApp,
  tenantId: string,
  sealing = platform.sealing,
): Line[] {
  using snapshot = openSnapshot(db)
  const lines = exportLines({
    ...{ snapshot, sealing, tables: PORTABLE_TABLES, tenantId, now: clock.now() },
    ...{ schema: SCHEMAS.at(-1) ?? '', keyPrefix: 'svc' },
  })
  return [...lines].map((line) => JSON.parse(line))
}

let scratch: Db | undefined

/** The database for the check; opened once, because its schema takes longer than most checks. */
function openTrial(): Db {
  using folder = temporaryFolder()
  scratch ??= openScratch({ dataDir: folder.path, migrations, now: 0 })
  const { client } = scratch
  client.run('PRAGMA journal_mode = MEMORY')
  return { ...scratch, close: () => void client.run('ROLLBACK') }
}

export async function importInto(
  { db, platform, clock }: TestApp,
  text: string | Uint8Array,
  changes: Partial<Parameters<typeof importTenant>[0]> = {},
) {
  using folder = temporaryFolder()
  const file = join(folder.path, 'tenant.ndjson')
  writeFileSync(file, text)
  return await importTenant({
    ...{ db, clock, file, audit: createAudit({ db, clock }), sealing: platform.sealing },
    ...{ openScratch: openTrial, actor: ACTOR, tables: PORTABLE_TABLES, schemas: SCHEMAS },
    ...{ onCheck: () => {}, onWrite: () => {}, ...changes },
  })
}

/** An exported tenant with three people, a job, a delayed job, an endpoint and keys. */
export async function exportAcme() {
  await using app = await bootTestApp()
  const acme = await app.tenant('Acme')
  const gate = app.client((await acme.key('gate', 'live')).key)
  const relay = app.client((await acme.key('relay', 'live')).key)
  for (const name of ['ada', 'bob', 'eve'])
    await gate.post('/v1/gate/identities', {
      schema_id: 'user',
      traits: { email: `${name}@example.com` },
    })
  const url = 'https://example.com/'
  await acme.api.post('/v1/clockwork/jobs', { name: 'nightly', schedule: '5 12 * * *', url })
  const run_at = '2026-03-02T12:00:00Z'
  await acme.api.post('/v1/clockwork/delayed', { name: 'later', run_at, url })
  await relay.post('/v1/relay/endpoints', { url })
  return { id: acme.id, secret: acme.secret, lines: exportOf(app, acme.id) }
}

/** The database of an application whose process dies in the commit of this number. */
export function dyingIn(atCommit: number, { db }: TestApp): TestApp['db'] {
  let commits = 0
  const commit: TestApp['db']['commit'] = (work) => {
    if (++commits === atCommit) throw new Error('killed')
    return db.commit(work)
  }
  return { ...db, commit }
}

export const rowsIn = ({ db }: TestApp, table: string): Line[] =>
  db.client.query(`select * from ${table}`).all()
