import {
  passepartoutAttempts,
  passepartoutBots,
  passepartoutPeople,
} from '../../../src/engines/passepartout/schema.ts'
import { botToken } from '../../../src/engines/passepartout/sealed.ts'
import { sha256 } from '../../../src/platform/crypto.ts'
import { newId } from '../../../src/platform/ids.ts'
import type { TestApp } from '../app.ts'
import type { Chance } from './chance.ts'
import { CUSTOMERS, DEVICES } from './people.ts'

const MINUTE = 60_000
const WEEK = 7 * 24 * 60 * MINUTE

/**
 * A live bot and those who signed in by it, as rows: the real one would want Telegram. Stored last,
 * when the clock stands still, so that nobody goes and looks for it there.
 */
export async function addBotSignIns(of: {
  app: TestApp
  chance: Chance
  tenantId: string
  now: number
}) {
  const { app, chance, tenantId, now } = of
  const { orm } = app.db
  const botId = newId()
  const people = CUSTOMERS.slice(0, 18).map(([firstName, lastName], index) => ({
    id: newId(),
    tenantId,
    platform: 'telegram' as const,
    platformUserId: `${5_120_000_000 + index * 7919}`,
    username: chance.happens(0.7) ? `${firstName}${lastName}`.toLowerCase() : null,
    firstName,
    lastName: chance.happens(0.8) ? lastName : null,
    languageCode: 'en',
    createdAt: now - (18 - index) * 11 * 60 * MINUTE,
    updatedAt: now - chance.between(10, 2000) * MINUTE,
  }))
  await app.db.commit(() => {
    orm
      .insert(passepartoutBots)
      .values({
        id: botId,
        tenantId,
        environment: 'live',
        platform: 'telegram',
        platformBotId: '7204419000',
        username: 'harbour_books_bot',
        name: 'Harbour Books',
        token: app.platform.sealing.seal(
          botToken.purpose,
          botToken.boundTo({ id: botId }),
          '7204419000:demo',
        ),
        isEnabled: true,
        match: 'required',
        transport: 'polling',
        revision: 1,
        health: 'ok',
        createdAt: now - 20 * 24 * 60 * MINUTE,
        updatedAt: now - 60 * MINUTE,
      })
      .run()
    orm.insert(passepartoutPeople).values(people).run()
    orm.insert(passepartoutAttempts).values(attempts()).run()
  })

  function attempts() {
    const times = Array.from({ length: 90 }, (_, index) => {
      const before = chance.between(3, 26 * 60) * MINUTE
      return index < 46 ? now - before : now - WEEK - before + 10 * 60 * MINUTE
    })
    return times.toSorted().map((createdAt) => {
      const device = chance.oneOf(DEVICES)
      const isApproved = chance.happens(0.9)
      const ended = createdAt + chance.between(6, 55) * 1000
      return {
        id: newId(),
        tenantId,
        environment: 'live' as const,
        botId,
        nonceHash: sha256(newId()),
        linkHash: sha256(newId()),
        state: isApproved
          ? ('approved' as const)
          : chance.oneOf(['denied', 'pending', 'mismatched'] as const),
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
        endedAt: ended,
        expiresAt: createdAt + 5 * MINUTE,
      }
    })
  }
}
