import { sql } from 'drizzle-orm'
import { ENGINES } from '../../../src/platform/engines.ts'
import { newId } from '../../../src/platform/ids.ts'
import { backups, usageDays, usageMonths } from '../../../src/platform/schema.ts'
import type { TestApp } from '../app.ts'
import type { Chance } from './chance.ts'

const DAY = 24 * 3_600_000

const USUAL = { gate: 5200, clockwork: 340, passepartout: 610, relay: 1900 } as const

/** What the shop's programs ask for in a month, of which its day has but a few, and a backup of last night. */
export function addEarlierUsage(of: {
  db: TestApp['db']
  chance: Chance
  tenantId: string
  now: number
}) {
  const { db, chance, tenantId, now } = of
  const month = new Date(now).toISOString().slice(0, 7)
  const today = new Date(now).getUTCDate()
  const days = Array.from({ length: today }, (_, index) =>
    ENGINES.map((engine) => ({
      tenantId,
      day: `${month}-${`${index + 1}`.padStart(2, '0')}`,
      engine,
      environment: 'live' as const,
      requests: Math.round(chance.around(USUAL[engine]) * (index + 1 === today ? 0.6 : 1)),
    })),
  ).flat()
  const requests = days.reduce((sum, day) => sum + day.requests, 0)
  db.orm
    .insert(usageDays)
    .values(days)
    .onConflictDoUpdate({
      target: [usageDays.tenantId, usageDays.day, usageDays.engine, usageDays.environment],
      set: { requests: sql`excluded.requests` },
    })
    .run()
  db.orm
    .insert(usageMonths)
    .values({
      tenantId,
      month,
      requests,
      billed: 0,
      costCents: 0,
      allowanceNotified: 0,
      spendCapNotified: 0,
    })
    .onConflictDoUpdate({ target: [usageMonths.tenantId, usageMonths.month], set: { requests } })
    .run()
  const startedAt = Math.floor(now / DAY) * DAY + 3 * 3_600_000
  db.orm
    .insert(backups)
    .values({
      id: newId(),
      origin: 'schedule',
      startedAt,
      endedAt: startedAt + 1840,
      file: 'gatehouse-2026-11-19T03-00-00Z.tar',
      bytes: 18_219_008,
    })
    .run()
}
