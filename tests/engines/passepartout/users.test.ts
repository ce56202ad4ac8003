import { expect, test } from 'bun:test'
import { expectRefused, LIFETIME, USERS, usePassepartout } from './fixture.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const fixture = await usePassepartout()
const { actor, botApi, bots, clock, newTenant, signIn, signInToSandbox } = fixture

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
