import { describe, expect, test } from 'bun:test'
import {
  exportOf,
  fileOf,
  idNumber,
  importInto,
  type Line,
  OTHER,
  ofKind,
} from '../../platform/portable/fixture.ts'
import { useApp } from '../../support/app.ts'
import { usePassepartout } from './fixture.ts'

const fixture = await usePassepartout()
const elsewhere = await useApp()
const acme = await fixture.newTenant()
await fixture.signIn(acme, fixture.botApi.person({ first_name: 'Ada' }))
const lines = exportOf(fixture.app, acme.id)

/** The bots alone, as those of another tenant. */
function botsOfOther(): Line[] {
  const other = JSON.parse(JSON.stringify(lines).replaceAll(acme.id, OTHER)) as Line[]
  return other
    .filter(({ kind }) => ['gatehouse.export', 'tenant', 'bot', 'end'].includes(kind))
    .map((line) => (line.platform === 'telegram' ? { ...line, id: idNumber(1) } : line))
    .filter(({ platform }) => platform !== 'sandbox')
}

describe('bots', () => {
  test('are exported with their token, and without their state', () => {
    const live = ofKind(lines, 'bot').find(({ environment }) => environment === 'live')
    expect(live).toMatchObject({ token: acme.bot.token, is_enabled: true, platform: 'telegram' })
    for (const name of ['health', 'update_offset', 'lease_owner'])
      expect(live).not.toHaveProperty(name)
  })

  test.each([
    [{ environment: 'test' }, 'bot.platform: must be'],
    [{ token: null }, 'bot.token: must be'],
    [{ is_enabled: 1 }, 'bot.is_enabled: must be'],
  ])('are refused with %j', async (changes, message) => {
    const next = structuredClone(lines)
    Object.assign(
      ofKind(next, 'bot').find(({ platform }) => platform === 'telegram') as Line,
      changes,
    )
    await expect(importInto(elsewhere, fileOf(next))).rejects.toThrow(message)
  })

  test('of another tenant here are refused, unless it has given them up', async () => {
    const file = fileOf(botsOfOther())
    await expect(importInto(fixture.app, file)).rejects.toThrow('already used by another bot')
    await fixture.bots.remove(fixture.actor, acme.owner)
    expect(await importInto(fixture.app, file)).toMatchObject({ counts: { bot: 1 } })
  })
})

test('users keep the subject that their tenant knows', async () => {
  // A bot must not receive messages in two places.
  await importInto(elsewhere, fileOf(lines.filter(({ kind }) => kind !== 'bot')))
  const subject = 'select id, first_name from passepartout_people'
  const known = fixture.app.db.client.query(subject).all()
  expect(elsewhere.db.client.query(subject).all()).toEqual(known)
  expect(known).toMatchObject([{ first_name: 'Ada' }])
})
