import { describe, expect, test } from 'bun:test'
import { expectRefused, LIFETIME, type Tenant, USERS, UUID, usePassepartout } from './fixture.ts'

const fixture = await usePassepartout()
const { botApi, newTenant, rows, signIn, signInToSandbox } = fixture

describe('a user', () => {
  test('has these fields, null where nothing is known', async () => {
    const ada = botApi.person()
    expect((await signIn(await newTenant(), ada)).user).toEqual({
      id: expect.stringMatching(UUID),
      platform: 'telegram',
      platform_user_id: `${ada.id}`,
      username: null,
      first_name: 'Ada',
      last_name: null,
      language_code: null,
      created_at: new Date(fixture.clock.now()).toISOString(),
    })
  })

  test('of the sandbox is one of its people', async () => {
    const { user } = await signInToSandbox(await newTenant(), 'konrad')
    expect(user).toMatchObject({
      ...{ platform: 'sandbox', platform_user_id: 'konrad', username: 'konrad_sandbox' },
      ...{ first_name: 'Konrad', last_name: 'Zuse', language_code: 'de' },
    })
  })

  test('is the same at each sign-in, with the token a new one', async () => {
    const acme = await newTenant()
    const ada = botApi.person()
    const first = await signIn(acme, ada)
    fixture.clock.jump(LIFETIME)
    const second = await signIn(acme, ada)
    expect(second.user).toEqual(first.user)
    expect(second.token).not.toBe(first.token)
    const [one, two] = [await signInToSandbox(acme), await signInToSandbox(acme)]
    expect(two.user.id).toBe(one.user.id)
  })

  test('is another one to another tenant, and no one else by the same name', async () => {
    const [acme, other] = [await newTenant(), await newTenant('Other')]
    const ada = botApi.person({ username: 'ada' })
    const users = [
      (await signIn(acme, ada)).user,
      (await signIn(other, ada)).user,
      (await signIn(acme, botApi.person({ username: 'ada' }))).user,
      (await signInToSandbox(acme)).user,
      (await signInToSandbox(other)).user,
    ]
    expect(new Set(users.map(({ id }) => id)).size).toBe(5)
  })

  test('stays the same under a new name, which all answers show from then on', async () => {
    const acme = await newTenant()
    const { id } = botApi.person()
    const first = await signIn(acme, botApi.person({ id, username: 'ada', last_name: 'Byron' }))
    const renamed = botApi.person({ id, first_name: 'Augusta', username: 'countess' })
    const { user } = await signIn(acme, renamed)
    const names = { first_name: 'Augusta', username: 'countess', last_name: null }
    expect(user).toEqual({ ...first.user, ...names })
    expect((await first.status()).body.user).toEqual(user)
    expect((await acme.live.get(`${USERS}/${user.id}`)).body).toEqual(user)
  })

  /** Its updates begin at the number at which those of the former began, unless told. */
  async function moveToNewBot({ owner }: Tenant, firstUpdate?: number) {
    const bot = botApi.bot()
    if (firstUpdate !== undefined) botApi.nextUpdateId(bot, firstUpdate)
    await fixture.bots.set(fixture.actor, owner, { token: bot.token })
    await botApi.waitForPoller(bot)
    return bot
  }

  test.each([undefined, 700_000_000])(
    'stays the same with a new bot, from update %j',
    async (n) => {
      const acme = await newTenant()
      const ada = botApi.person()
      const { user } = await signIn(acme, ada)
      const bot = await moveToNewBot(acme, n)
      expect((await signIn({ live: acme.live, bot }, ada)).user).toEqual(user)
    },
  )

  test('is read and deleted in its environment, with its tokens, and comes back as another', async () => {
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
    expect(rows('people', `where tenant_id = '${acme.id}'`)).toEqual([])
    expect((await signIn(acme, ada)).user.id).not.toBe(user.id)
  })
})

test('a sign-in of another tenant stays unknown, whoever approves it', async () => {
  const [acme, other] = [await newTenant(), await newTenant('Other')]
  const { nonce, token } = await signIn(other, botApi.person())
  expectRefused(await acme.live.status(nonce), 404, 'not_found')
  expect(await acme.live.introspect(token)).toEqual({ active: false })
})

test('users, sign-ins and bots are known as resources of their tenant', async () => {
  const [acme, other] = [await newTenant(), await newTenant('Other')]
  await signInToSandbox(acme)
  const { resources } = fixture.app.platform
  for (const [kind, table] of Object.entries({ user: 'people', login: 'attempts', bot: 'bots' })) {
    const [{ id }] = rows(table, `where tenant_id = '${acme.id}'`)
    expect(resources.belongsTo(acme.id, `passepartout:${kind}`, id)).toBe(true)
    expect(resources.belongsTo(other.id, `passepartout:${kind}`, id)).toBe(false)
  }
})
