import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  exportOf,
  fileOf,
  idNumber,
  importInto,
  type Line,
  OTHER,
  ofKind,
} from '../../platform/portable/fixture.ts'
import { bootTestApp } from '../../support/app.ts'
import { bootContract, type Contract, type Party } from './contract.ts'

let fixture: Contract
let acme: Party
let lines: Line[]
beforeAll(async () => {
  fixture = await bootContract()
  acme = await fixture.party()
  await fixture.signIn(acme, fixture.botApi.person({ first_name: 'Ada' }))
  lines = exportOf(fixture.app, acme.id)
})
afterAll(() => fixture.stop())

describe('bots', () => {
  test('are in the file with their token in clear, and without what was found out of them', () => {
    const live = ofKind(lines, 'bot').find(({ environment }) => environment === 'live')
    expect(live).toMatchObject({ token: acme.bot.token, is_enabled: true, platform: 'telegram' })
    for (const name of ['health', 'update_offset', 'lease_owner'])
      expect(live).not.toHaveProperty(name)
  })

  const wrong: [string, object, string][] = [
    [
      'Telegram for test',
      { environment: 'test' },
      'line 4: bot.platform: must be sandbox in test and telegram in live',
    ],
    [
      'no token',
      { token: null },
      'line 4: bot.token: must be set for a Telegram bot, and only for one',
    ],
    ['another switch', { is_enabled: 1 }, 'bot.is_enabled: must be true or false'],
  ]
  test.each(wrong)('are refused with %s', async (_, changes, message) => {
    await using home = { app: await bootTestApp(), [Symbol.asyncDispose]: () => home.app.stop() }
    const next = structuredClone(lines)
    Object.assign(
      ofKind(next, 'bot').find(({ platform }) => platform === 'telegram'),
      changes,
    )
    await expect(importInto(home.app, fileOf(next))).rejects.toThrow(message)
  })

  test('that are in use here by another tenant are refused, with all that comes with them', async () => {
    const other = JSON.parse(JSON.stringify(lines).replaceAll(acme.id, OTHER)) as Line[]
    const alone = other
      .filter(({ kind }) => ['gatehouse.export', 'tenant', 'bot', 'end'].includes(kind))
      .map((line) =>
        line.kind === 'bot' ? { ...line, id: idNumber(line.environment === 'live' ? 1 : 2) } : line,
      )
    await expect(importInto(fixture.app, fileOf(alone))).rejects.toThrow(
      'bot.platform, platform_bot_id: is already used by another bot',
    )
  })

  test('that another tenant here has given up are taken over', async () => {
    await using home = { app: await bootTestApp(), [Symbol.asyncDispose]: () => home.app.stop() }
    await importInto(home.app, fileOf(lines))
    const owner = { tenantId: acme.id, environment: 'live' } as const
    await home.app.passepartout.bots.remove({ kind: 'cli' }, owner)
    const other = JSON.parse(JSON.stringify(lines).replaceAll(acme.id, OTHER)) as Line[]
    const alone = other
      .filter(({ kind }) => ['gatehouse.export', 'tenant', 'bot', 'end'].includes(kind))
      .map((line) => (line.platform === 'telegram' ? { ...line, id: idNumber(1) } : line))
      .filter(({ platform }) => platform !== 'sandbox')
    expect(await importInto(home.app, fileOf(alone))).toMatchObject({ counts: { bot: 1 } })
  })
})

describe('people of messengers', () => {
  test('keep the subject that their tenant knows them by', async () => {
    await using home = { app: await bootTestApp(), [Symbol.asyncDispose]: () => home.app.stop() }
    // A bot that answers in two places answers in none.
    await importInto(home.app, fileOf(lines.filter(({ kind }) => kind !== 'bot')))
    const subject = 'select id, first_name from passepartout_people'
    const known = fixture.app.db.client.query(subject).all()
    expect(home.app.db.client.query(subject).all()).toEqual(known)
    expect(known).toMatchObject([{ first_name: 'Ada' }])
  })
})
