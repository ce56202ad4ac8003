import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isTime } from '../relay/support.ts'
import {
  bootContract,
  type Contract,
  expectRefused,
  LIFETIME,
  type Party,
  UUID,
} from './contract.ts'

const USER = '/v1/passepartout/users/:user_id'

let fixture: Contract
let acme: Party
beforeAll(async () => {
  fixture = await bootContract()
  acme = await fixture.party()
  await fixture.signInToSandbox(acme)
})
afterAll(() => fixture.stop())

test('A login of another tenant stays unknown to a key, whoever approves it', async () => {
  const other = await fixture.party('Stranger')
  const ada = fixture.botApi.person({ language_code: 'en' })
  const { nonce, deep_link } = await other.live.start()
  await fixture.answer(other.bot, ada, deep_link, 'Approve')
  expectRefused(await acme.live.status(nonce), 404, 'not_found')
  const { body } = await other.live.status(nonce)
  expect(await acme.live.introspect(body.access_token)).toEqual({ active: false })
})

test("The bot of another tenant doesn't answer to a deep link", async () => {
  const other = await fixture.party('Neighbour')
  const ada = fixture.botApi.person({ language_code: 'en' })
  const { nonce, deep_link } = await acme.live.start()
  ada.start(other.bot, new URL(deep_link).searchParams.get('start') ?? '')
  const { buttons } = await ada.waitForMessage(other.bot)
  expect(buttons).toEqual([])
  expect((await acme.live.status(nonce)).body).toEqual({ status: 'pending' })
  await fixture.answer(acme.bot, ada, deep_link, 'Approve')
  expect((await acme.live.status(nonce)).body).toMatchObject({ status: 'completed' })
})

test("The sandbox doesn't open a live login", async () => {
  const { deep_link } = await acme.live.start()
  const payload = new URL(deep_link).searchParams.get('start')
  for (const method of ['GET', 'POST'])
    expect(
      await fixture.app.raw(`/sandbox/passepartout/${payload}`, {
        method,
        ...(method === 'POST' && { body: new URLSearchParams({ choice: 'approve' }) }),
      }),
    ).toMatchObject({ status: 404 })
})

describe('A user', () => {
  const FIELDS = [
    'id',
    'platform',
    'platform_user_id',
    'username',
    'first_name',
    'last_name',
    'language_code',
    'created_at',
  ]

  test('has these fields and no others, null if unknown', async () => {
    const bare = fixture.botApi.person()
    const { user } = await fixture.signIn(acme, bare)
    expect(Object.keys(user)).toEqual(FIELDS)
    expect(user).toMatchObject({
      id: expect.stringMatching(UUID),
      platform: 'telegram',
      platform_user_id: `${bare.id}`,
      username: null,
      first_name: 'Ada',
      last_name: null,
      language_code: null,
    })
    expect(isTime(user.created_at)).toBe(true)
  })

  test('is the same at every sign-in', async () => {
    await using own = await bootContract()
    const party = await own.party()
    const ada = own.botApi.person({ language_code: 'en' })
    const first = await own.signIn(party, ada)
    own.clock.jump(LIFETIME)
    const second = await own.signIn(party, ada)
    expect(second.user).toEqual(first.user)
    expect(second.token).not.toBe(first.token)
  })

  test('keeps the ID when the profile changes, and shows the current profile', async () => {
    const { id } = fixture.botApi.person()
    const as = (fields: object) =>
      fixture.botApi.person({ id, language_code: 'en', first_name: 'Ada', ...fields })
    const first = await fixture.signIn(acme, as({ username: 'ada', last_name: 'Byron' }))
    const second = await fixture.signIn(acme, as({ first_name: 'Augusta', username: 'countess' }))
    expect(second.user).toEqual({
      ...first.user,
      first_name: 'Augusta',
      username: 'countess',
      last_name: null,
    })
    expect((await acme.live.status(first.nonce)).body.user).toEqual(second.user)
  })

  test('is not matched by username', async () => {
    const name = { username: 'taken', first_name: 'Ada', language_code: 'en' }
    const one = await fixture.signIn(acme, fixture.botApi.person(name))
    const two = await fixture.signIn(acme, fixture.botApi.person(name))
    expect(two.user.id).not.toBe(one.user.id)
  })

  test('has another ID in another tenant', async () => {
    const other = await fixture.party('Second')
    const ada = fixture.botApi.person({ language_code: 'en' })
    const [here, there] = [await fixture.signIn(acme, ada), await fixture.signIn(other, ada)]
    expect(there.user.platform_user_id).toBe(here.user.platform_user_id)
    expect(there.user.id).not.toBe(here.user.id)
    expect((await acme.live.introspect(here.token)).subject).toBe(here.user.id)
    expect((await other.live.introspect(there.token)).subject).toBe(there.user.id)
  })

  test('of the sandbox has one ID per tenant', async () => {
    const other = await fixture.party('Third')
    const [here, again] = [await fixture.signInToSandbox(acme), await fixture.signInToSandbox(acme)]
    const there = await fixture.signInToSandbox(other)
    expect(again.user.id).toBe(here.user.id)
    expect(there.user.id).not.toBe(here.user.id)
  })

  test('loses all tokens when deleted, and gets a new ID at the next sign-in', async () => {
    const ada = fixture.botApi.person({ language_code: 'en' })
    const { user, token, nonce } = await fixture.signIn(acme, ada)
    const path = USER.replace(':user_id', user.id)
    expect(await acme.live.delete(path)).toMatchObject({ status: 204, body: '' })
    expect(await acme.live.introspect(token)).toEqual({ active: false })
    expectRefused(await acme.live.status(nonce), 404, 'nonce_expired')
    for (const method of ['get', 'delete'] as const)
      expectRefused(await acme.live[method](path), 404, 'not_found', 'user not found')
    expect((await fixture.signIn(acme, ada)).user.id).not.toBe(user.id)
  })

  async function moveToNewBot({ id }: Party, firstUpdate?: number) {
    const bot = fixture.botApi.bot()
    if (firstUpdate !== undefined) fixture.botApi.nextUpdateId(bot, firstUpdate)
    const owner = { tenantId: id, environment: 'live' } as const
    await fixture.app.passepartout.bots.set(fixture.actor, owner, { token: bot.token })
    await fixture.botApi.waitForPoller(bot)
    return bot
  }

  test('keeps the ID with a new bot', async () => {
    const other = await fixture.party('Moved')
    const ada = fixture.botApi.person({ language_code: 'en' })
    const { user } = await fixture.signIn(other, ada)
    const bot = await moveToNewBot(other, 700_000_000)
    expect((await fixture.signIn({ live: other.live, bot }, ada)).user).toEqual(user)
  })

  test('can use a new bot whose update numbers start low', async () => {
    const other = await fixture.party('Moved again')
    const ada = fixture.botApi.person({ language_code: 'en' })
    const { user } = await fixture.signIn(other, ada)
    const bot = await moveToNewBot(other)
    expect((await fixture.signIn({ live: other.live, bot }, ada)).user).toEqual(user)
  })
})

test('Users, logins and bots are resources of their tenant alone', async () => {
  const other = await fixture.bareParty('Curious')
  const idOf = (table: string) =>
    (
      fixture.app.db.client
        .query(`select id from passepartout_${table} where tenant_id = ? limit 1`)
        .get(acme.id) as { id: string }
    ).id
  const { resources } = fixture.app.platform
  for (const [kind, table] of [
    ['user', 'people'],
    ['login', 'attempts'],
    ['bot', 'bots'],
  ] as const) {
    expect(resources.belongsTo(acme.id, `passepartout:${kind}`, idOf(table))).toBe(true)
    expect(resources.belongsTo(other.id, `passepartout:${kind}`, idOf(table))).toBe(false)
  }
})
