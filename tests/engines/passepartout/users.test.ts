import { expect, test } from 'bun:test'
import { checkDigits } from '../../../src/platform/crypto.ts'
import * as portable from '../../platform/portable/fixture.ts'
import { useApp } from '../../support/app.ts'
import { mintToken } from '../gate/fixture.ts'
import {
  bootPassepartout,
  expectRefused,
  HOUR,
  LIFETIME,
  MINUTE,
  tablesWith,
  USERS,
  usePassepartout,
} from './fixture.ts'

const INACTIVE = { active: false }

const fixture = await usePassepartout()
const { actor, app, botApi, bots, clock, newTenant, signIn, signInToSandbox } = fixture
const acme = await newTenant()
const other = await newTenant('Other')

const revocations = (id: string) =>
  app.db.client
    .query(`select * from audit_log where action = 'login_token.revoked' and object = ?`)
    .all(`passepartout:user:${id}`)

/** Texts that are not a valid token, among them some that are close to `token`. */
const invalid = (token: string): string[] => {
  const secret = token.slice('ppt_test_'.length)
  const random = secret.slice(0, 37)
  const mistyped = random.slice(1) + (random.startsWith('a') ? 'b' : 'a')
  return [
    ...['', secret, `Bearer ${token}`, token.toUpperCase(), token.slice(0, -1), `${token}0`],
    ...[`${token}\n`, ` ${token}`, token.replace('_test_', '_live_'), "' or 1=1 --"],
    ...[`ppt_test_${mistyped}${secret.slice(37)}`, `ppt_test_${mistyped}${checkDigits(mistyped)}`],
    ...[`ppt_test_${secret.slice(0, 20)}\u0000${secret.slice(21)}`, `ppt_test_${'ä'.repeat(43)}`],
    `ppt_test_${'0'.repeat(500_000)}`,
  ]
}

test('Introspection tells whose a token is and until when, in its environment and tenant alone', async () => {
  const { token, user } = await signInToSandbox(acme)
  const expires_at = new Date(clock.now() + HOUR).toISOString()
  const known = { active: true, subject: user.id, tenant_id: acme.id, expires_at }
  expect(await acme.test.introspect(token)).toEqual({ ...known, scopes: ['passepartout'] })
  const live = await signIn(acme, botApi.person())
  expect(await acme.live.introspect(live.token)).toMatchObject({ subject: live.user.id })
  for (const api of [acme.test, other.live])
    expect(await api.introspect(live.token)).toEqual(INACTIVE)
  for (const api of [acme.live, other.live, other.test])
    expect(await api.introspect(token)).toEqual(INACTIVE)
})

test('Any other text or credential is not active, and to revoke it does nothing', async () => {
  const { token, user } = await signInToSandbox(acme)
  const { key: gateKey } = await acme.key('gate', 'live')
  const { access_token: gateToken } = await mintToken(app, gateKey)
  const { nonce, deep_link } = await acme.test.start()
  const credentials = [gateToken, gateKey, acme.liveKey, acme.testKey, nonce, deep_link]
  for (const text of [...credentials, ...invalid(token)])
    for (const api of [acme.test, acme.live]) {
      expect([text, await api.introspect(text)]).toEqual([text, INACTIVE])
      expect((await api.revoke(text)).status).toBe(204)
    }
  for (const api of [acme.live, other.live, other.test])
    expect((await api.revoke(token)).status).toBe(204)
  expect(revocations(user.id)).toEqual([])
  expect(await acme.test.introspect(token)).toMatchObject({ active: true })
})

test.each([
  [{}, HOUR],
  [{ 'passepartout-token-lifetime': '10m' }, 10 * MINUTE],
])('A token outlives its nonce and then ends, with %j', async (flags, lifetime) => {
  await using own = await bootPassepartout({ flags })
  const tenant = await own.newTenant()
  const { token, status } = await own.signInToSandbox(tenant)
  own.clock.jump(lifetime - 1)
  expectRefused(await status(), 404, 'nonce_expired')
  expect(await tenant.test.introspect(token)).toMatchObject({ active: true })
  own.clock.jump(1)
  expect(await tenant.test.introspect(token)).toEqual(INACTIVE)
})

test('A revoked token has ended for good, which is recorded once; suspension and bots change nothing', async () => {
  const tenant = await newTenant()
  const [one, two] = [await signInToSandbox(tenant), await signInToSandbox(tenant)]
  await app.platform.tenants.suspend(actor, tenant.id, 'renewal')
  await bots.remove(actor, tenant.sandbox)
  const answers = await Promise.all(Array.from({ length: 9 }, () => tenant.test.revoke(one.token)))
  for (const answer of [...answers, await tenant.test.revoke(one.token)])
    expect(answer).toMatchObject({ status: 204, body: '' })
  expect(await tenant.test.introspect(one.token)).toEqual(INACTIVE)
  expectRefused(await one.status(), 404, 'nonce_expired')
  expect(await tenant.test.introspect(two.token)).toMatchObject({ active: true })
  expect(revocations(one.user.id)).toMatchObject([{ tenant_id: tenant.id }])
  const secret = one.token.slice('ppt_test_'.length)
  expect(tablesWith(fixture, secret)).toEqual([])
  expect(app.log.filter((line) => line.includes(secret))).toEqual([])
})

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('A user has these fields with safe names, null where nothing is known', async () => {
  const acme = await newTenant()
  const unsafe = { last_name: '\u200b\u2066 ', language_code: '"><img>' }
  const ada = botApi.person({ first_name: '\u202eyrollaM\u0000\n<script>', ...unsafe })
  const created_at = new Date(clock.now()).toISOString()
  const known = { platform: 'telegram', platform_user_id: `${ada.id}`, created_at }
  const names = { first_name: 'yrollaM <script>', last_name: null, username: null }
  const { user } = await signIn(acme, ada)
  const id = expect.stringMatching(UUID)
  expect(user).toEqual({ ...known, ...names, language_code: null, id })
  expect((await signInToSandbox(acme, 'konrad')).user).toMatchObject({
    ...{ platform: 'sandbox', platform_user_id: 'konrad', username: 'konrad_sandbox' },
    ...{ first_name: 'Konrad', last_name: 'Zuse', language_code: 'de' },
  })
})

test('A user is the same at each sign-in, with a new token, a new name or a new bot', async () => {
  const acme = await newTenant()
  const ada = botApi.person({ username: 'ada', last_name: 'Byron' })
  const first = await signIn(acme, ada)
  clock.jump(LIFETIME - 1)
  const second = await signIn(acme, ada)
  expect(second.user).toEqual(first.user)
  expect(second.token).not.toBe(first.token)
  const renamed = botApi.person({ id: ada.id, first_name: 'Augusta', username: 'countess' })
  const { user } = await signIn(acme, renamed)
  const names = { first_name: 'Augusta', username: 'countess', last_name: null }
  expect(user).toEqual({ ...first.user, ...names })
  expect((await first.status()).body.user).toEqual(user)
  expect((await acme.live.get(`${USERS}/${user.id}`)).body).toEqual(user)
  // Updates of another bot may begin at the number at which those of the former began.
  for (const firstUpdate of [500_000_001, 700_000_000]) {
    const bot = botApi.bot()
    botApi.nextUpdateId(bot, firstUpdate)
    await bots.set(actor, acme.owner, { token: bot.token })
    await botApi.waitForPoller(bot)
    expect((await signIn({ live: acme.live, bot }, renamed)).user).toEqual(user)
  }
})

test('Users of another tenant or environment, or of the same name, are others', async () => {
  const [acme, other] = [await newTenant(), await newTenant('Other')]
  const ada = botApi.person({ username: 'ada' })
  const theirs = await signIn(other, ada)
  const namesake = await signIn(acme, botApi.person({ username: 'ada' }))
  const sandboxed = [await signInToSandbox(acme), await signInToSandbox(other)]
  const all = [theirs, await signIn(acme, ada), namesake, ...sandboxed]
  expect(new Set(all.map(({ user }) => user.id)).size).toBe(5)
  const { resources } = fixture.app.platform
  for (const [kind, table] of Object.entries({ user: 'people', login: 'attempts', bot: 'bots' })) {
    const [{ id }] = fixture.rowsOf(acme, table)
    expect(resources.belongsTo(acme.id, `passepartout:${kind}`, id)).toBe(true)
    expect(resources.belongsTo(other.id, `passepartout:${kind}`, id)).toBe(false)
  }
})

test('A user is read and deleted in its environment, with its tokens, and comes back as another', async () => {
  const acme = await newTenant()
  const ada = botApi.person()
  const { user, token, status } = await signIn(acme, ada)
  const path = `${USERS}/${user.id}`
  for (const method of ['get', 'delete'] as const)
    expectRefused(await acme.test[method](path), 404, 'not_found', 'user not found')
  expect(await acme.live.delete(path)).toMatchObject({ status: 204, body: '' })
  expect(await acme.live.introspect(token)).toEqual({ active: false })
  expectRefused(await status(), 404, 'nonce_expired')
  for (const method of ['get', 'delete'] as const)
    expectRefused(await acme.live[method](path), 404, 'not_found', 'user not found')
  expect(fixture.rowsOf(acme, 'people')).toEqual([])
  expect((await signIn(acme, ada)).user.id).not.toBe(user.id)
})

const { fileOf, importInto, ofKind } = portable

const elsewhere = await useApp()
const moving = await newTenant()
const moved = await signIn(moving, botApi.person())
const lines = portable.exportOf(app, moving.id)

test('Bots are exported with their token, and without their state', () => {
  const live = ofKind(lines, 'bot').find(({ environment }) => environment === 'live')
  expect(live).toMatchObject({ token: moving.bot.token, is_enabled: true, platform: 'telegram' })
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
  const other = JSON.stringify(lines).replaceAll(moving.id, portable.OTHER)
  const kinds = ['gatehouse.export', 'tenant', 'bot', 'end']
  const file = (JSON.parse(other) as portable.Line[])
    .filter(({ kind, platform }) => kinds.includes(kind) && platform !== 'sandbox')
    .map((line) => (line.platform === 'telegram' ? { ...line, id: portable.idNumber(1) } : line))
  await expect(importInto(app, fileOf(file))).rejects.toThrow('already used by another bot')
  await bots.remove(actor, moving.owner)
  expect(await importInto(app, fileOf(file))).toMatchObject({ counts: { bot: 1 } })
})

test('Users keep the subject that their tenant knows', async () => {
  // A bot must not receive messages in two places.
  await importInto(elsewhere, fileOf(lines.filter(({ kind }) => kind !== 'bot')))
  const subject = `select id from passepartout_people where tenant_id = '${moving.id}'`
  expect(elsewhere.db.client.query(subject).all()).toEqual([{ id: moved.user.id }])
})
