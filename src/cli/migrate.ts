import { migrations } from '../../drizzle/index.ts'
import { migrationStatus } from '../db/migrate.ts'
import { databaseExists } from '../db/open.ts'
import { isoTime } from '../platform/clock.ts'
import { type Command, table } from './command.ts'
import { openConfigured } from './open.ts'

export const migrateStatus: Command = {
  name: 'migrate status',
  summary: 'Show applied and pending database migrations.',
  run: ({ config }) => {
    if (!databaseExists(config.dataDir))
      return answer(
        [],
        migrations.map(({ id }) => id),
      )
    const db = openConfigured(config)
    try {
      const { applied, pending } = migrationStatus(db.client, migrations)
      return answer(applied, pending)
    } finally {
      db.close()
    }
  },
}

function answer(
  applied: { id: string; applied_at: number; app_version: string }[],
  pending: string[],
) {
  const done = applied.map((step) => ({ ...step, applied_at: isoTime(step.applied_at) }))
  const rows = [
    ...done.map(({ id, applied_at, app_version }) => [
      id,
      `applied ${applied_at} by ${app_version}`,
    ]),
    ...pending.map((id) => [id, 'pending']),
  ]
  const json = {
    applied: done.map(({ id, applied_at, app_version }) => ({ id, applied_at, app_version })),
    pending,
  }
  return { json, text: table(rows) }
}
