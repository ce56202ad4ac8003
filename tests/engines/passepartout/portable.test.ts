import { expect, test } from 'bun:test'
import * as portable from '../../platform/portable/fixture.ts'
import { useApp } from '../../support/app.ts'
import { usePassepartout } from './fixture.ts'

const { fileOf, importInto, ofKind } = portable

const fixture = await usePassepartout()
const elsewhere = await useApp()
const acme = await fixture.newTenant()
await fixture.signIn(acme, fixture.botApi.person({ first_name: 'Ada' }))
const lines = portable.exportOf(fixture.app, acme.id)

test('Bots are exported with their token, and without their state', () => {
  const live = ofKind(lines, 'bot').find(({ environment }) => environment === 'live')
  expect(live).toMatchObject({ token: acme.bot.token, is_enabled: true, platform: 'telegram' })
  for (const name of ['health', 'update_offset', 'lease_owner'])
    expect(live).not.toHaveProperty(name)
})

test.each([
  ['telegram', { environment: 'test' }, 'bot.platform: must be'],
  ['telegram', { token: null }, 'bot.token: must be'],
  ['telegram', { is_enabled: 1 }, 'bot.is_enabled: must be'],
  ['sandbox', { token: '1:a' }, 'bot.token: must be'],
])('Bots of %s are refused with %j', async (platform, changes, message) => {
  const next = structuredClone(lines)
  Object.assign(ofKind(next, 'bot').find((line) => line.platform === platform) as object, changes)
  await expect(importInto(elsewhere, fileOf(next))).rejects.toThrow(message)
})

test('Bots of another tenant here are refused, unless it has given them up', async () => {
  const other = JSON.stringify(lines).replaceAll(acme.id, portable.OTHER)
  const kinds = ['gatehouse.export', 'tenant', 'bot', 'end']
  const bots = (JSON.parse(other) as portable.Line[])
    .filter(({ kind, platform }) => kinds.includes(kind) && platform !== 'sandbox')
    .map((line) => (line.platform === 'telegram' ? { ...line, id: portable.idNumber(1) } : line))
  await expect(importInto(fixture.app, fileOf(bots))).rejects.toThrow('already used by another bot')
  await fixture.bots.remove(fixture.actor, acme.owner)
  expect(await importInto(fixture.app, fileOf(bots))).toMatchObject({ counts: { bot: 1 } })
})

test('Users keep the subject that their tenant knows', async () => {
  // A bot must not receive messages in two places.
  await importInto(elsewhere, fileOf(lines.filter(({ kind }) => kind !== 'bot')))
  const subject = 'select id, first_name from passepartout_people'
  const known = fixture.app.db.client.query(subject).all()
  expect(elsewhere.db.client.query(subject).all()).toEqual(known)
  expect(known).toMatchObject([{ first_name: 'Ada' }])
})
