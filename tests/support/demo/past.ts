import { sql } from 'drizzle-orm'
import {
  passepartoutAttempts,
  passepartoutBots,
  passepartoutPeople,
} from '../../../src/engines/passepartout/schema.ts'
import { botToken } from '../../../src/engines/passepartout/sealed.ts'
import { sha256 } from '../../../src/platform/crypto.ts'
import { ENGINES } from '../../../src/platform/engines.ts'
import { newId } from '../../../src/platform/ids.ts'
import { backups, usageDays, usageMonths } from '../../../src/platform/schema.ts'
import type { TestApp } from '../app.ts'
import type { Chance } from './chance.ts'
import { CUSTOMERS, DEVICES } from './people.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface Past {
  app: TestApp
  chance: Chance
  tenantId: string
  now: number
}

/** A live bot and its users, as rows: a real bot would call Telegram as soon as the clock is turned. */
export async function addBotSignIns({ app, chance, tenantId, now }: Past) {
  const { orm } = app.db
  const botId = newId()
  const of = { tenantId, environment: 'live', platform: 'telegram' } as const
  const people = CUSTOMERS.slice(0, 18).map(([firstName, lastName], index) => ({
    ...of,
    id: newId(),
    platformUserId: `${5_120_000_000 + index * 7919}`,
    username: chance.happens(0.7) ? `${firstName}${lastName}`.toLowerCase() : null,
    firstName,
    lastName: chance.happens(0.8) ? lastName : null,
    languageCode: 'en',
    createdAt: now - (18 - index) * 11 * HOUR,
    updatedAt: now - chance.between(10, 2000) * MINUTE,
  }))
  const times = Array.from({ length: 90 }, (_, index) => {
    const before = chance.between(3, 26 * 60) * MINUTE
    return index < 46 ? now - before : now - 7 * DAY - before + 10 * MINUTE
  })
  const attempts = times.toSorted().map((createdAt) => {
    const device = chance.oneOf(DEVICES)
    const isApproved = chance.happens(0.9)
    const endedAt = createdAt + chance.between(6, 55) * 1000
    const refused = () => chance.oneOf(['denied', 'pending', 'mismatched'] as const)
    return {
      ...of,
      id: newId(),
      botId,
      nonceHash: sha256(newId()),
      linkHash: sha256(newId()),
      state: isApproved ? ('approved' as const) : refused(),
      clientIp: device.ipAddress,
      clientUserAgent: device.userAgent,
      clientLabel: 'Web shop',
      matchCode: `${chance.between(10, 99)}`,
      choices: null,
      openerId: null,
      language: 'en' as const,
      prompts: 1,
      personId: isApproved ? chance.oneOf(people).id : null,
      createdAt,
      openedAt: createdAt + 4000,
      endedAt,
      expiresAt: createdAt + 5 * MINUTE,
    }
  })
  const { sealing } = app.platform
  const bot = {
    ...of,
    id: botId,
    platformBotId: '7204419000',
    username: 'harbour_books_bot',
    name: 'Harbour Books',
    token: sealing.seal(botToken.purpose, botToken.boundTo({ id: botId }), '7204419000:demo'),
    isEnabled: true,
    match: 'required',
    transport: 'polling',
    revision: 1,
    health: 'ok',
    createdAt: now - 20 * DAY,
    updatedAt: now - HOUR,
  } as const
  await app.db.commit(() => {
    orm.insert(passepartoutBots).values(bot).run()
    orm.insert(passepartoutPeople).values(people).run()
    orm.insert(passepartoutAttempts).values(attempts).run()
  })
}

const USUAL = {
  gate: 5200,
  clockwork: 340,
  passepartout: 610,
  relay: 1900,
  notifications: 0,
  manifest: 0,
} as const

/** The requests of the month, of which the day has few, and a backup of last night. */
export function addEarlierUsage({ app: { db }, chance, tenantId, now }: Past) {
  const month = new Date(now).toISOString().slice(0, 7)
  const today = new Date(now).getUTCDate()
  const days = Array.from({ length: today }, (_, index) =>
    ENGINES.map((engine) => ({
      tenantId,
      day: `${month}-${`${index + 1}`.padStart(2, '0')}`,
      engine,
      environment: 'live' as const,
      requests: Math.round(chance.around(USUAL[engine]) * (index + 1 === today ? 0.6 : 1)),
    })).filter(({ requests }) => requests > 0),
  ).flat()
  const requests = days.reduce((sum, day) => sum + day.requests, 0)
  const { tenantId: tenant, day, engine, environment } = usageDays
  const set = { requests: sql`excluded.requests` }
  db.orm
    .insert(usageDays)
    .values(days)
    .onConflictDoUpdate({ target: [tenant, day, engine, environment], set })
    .run()
  const none = { billed: 0, costCents: 0, allowanceNotified: 0, spendCapNotified: 0 }
  db.orm
    .insert(usageMonths)
    .values({ tenantId, month, requests, ...none })
    .onConflictDoUpdate({ target: [usageMonths.tenantId, usageMonths.month], set: { requests } })
    .run()
  const startedAt = Math.floor(now / DAY) * DAY + 3 * HOUR
  const file = 'gatehouse-2026-11-19T03-00-00Z.tar'
  const of = { id: newId(), origin: 'schedule', file, bytes: 18_219_008 } as const
  db.orm
    .insert(backups)
    .values({ ...of, startedAt, endedAt: startedAt + 1840 })
    .run()
}
