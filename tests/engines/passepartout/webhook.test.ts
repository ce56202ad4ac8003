import { describe, expect, test } from 'bun:test'
import { serve } from '../../../src/http/serve.ts'
import { until } from '../../support/binary.ts'
import type { Person } from '../../support/bot-api/index.ts'
import { testConfig } from '../../support/config.ts'
import {
  bootPassepartout,
  expectRefused,
  type Fixture,
  type Json,
  LIFETIME,
  type Login,
  START,
  usePassepartout,
} from './fixture.ts'

const { maxBodyBytes } = testConfig().server
const SECRET_HEADER = 'x-telegram-bot-api-secret-token'
const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'

let lastUpdateId = 800_000_000

const userOf = ({ id, first_name }: Person) => ({ id, is_bot: false, first_name })

const startOf = (person: Person, { payload }: Login, update_id = ++lastUpdateId) => ({
  update_id,
  message: {
    message_id: 1000,
    from: userOf(person),
    chat: { id: person.id, type: 'private' },
    date: 1772366430,
    text: `/start ${payload}`,
  },
})

const tapOf = (person: Person, data: string, update_id = ++lastUpdateId) => ({
  update_id,
  callback_query: {
    id: `${update_id}`,
    from: userOf(person),
    message: { message_id: 1001, chat: { id: person.id, type: 'private' }, date: 1772366430 },
    data,
  },
})

/** A tenant whose live bot uses a webhook. */
async function hooked(fixture: Fixture) {
  const { bots, actor, botApi, raw } = fixture
  const tenant = await fixture.newTenantWithoutBots()
  const bot = botApi.bot()
  await bots.set(actor, tenant.owner, { token: bot.token, transport: 'webhook' })
  await bots.enable(actor, tenant.owner)
  await until(() => bot.webhook !== undefined)
  const { url, secret } = bot.webhook as { url: string; secret: string }
  const path = new URL(url).pathname
  const post = (body: BodyInit | null, headers: Record<string, string>, to = path) =>
    raw(to, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  /** As Telegram brings an update. */
  const bring = (update: unknown, shown = secret) =>
    post(JSON.stringify(update), { [SECRET_HEADER]: shown })
  return { ...tenant, bot, secret, path, post, bring }
}

/** With a listener, which Telegram calls. */
async function listening(fixture: Fixture) {
  const { app } = fixture
  const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
  const stop = async () => {
    await listener.stop()
    await fixture.stop()
  }
  return { ...fixture, ...(await hooked(fixture)), [Symbol.asyncDispose]: stop }
}

const shared = await usePassepartout()
const { actor, attemptsOf, bots, botApi, rows } = shared
const acme = await hooked(shared)

/** Everything that updates change. */
const everything = () =>
  ['updates', 'attempts', 'people', 'tokens', 'prompts'].map((table) => rows(table))

describe('401 is answered', () => {
  const BODIES: (BodyInit | null)[] = [
    ...[null, '{"update_id":1}', '{', 'x'.repeat(maxBodyBytes + 1)],
    new Uint8Array([0xff, 0xfe]),
  ]

  async function expectStranger(headers: Record<string, string>, path?: string) {
    const before = everything()
    for (const body of BODIES)
      expectRefused(await acme.post(body, headers, path), 401, 'unauthenticated')
    expect(everything()).toEqual(before)
  }

  test('to a wrong secret, whatever the body', async () => {
    const { secret, bot, liveKey, path } = acme
    const other = await hooked(shared)
    for (const wrong of [
      ...['', 'x', secret.slice(1), `${secret}x`, secret.toUpperCase(), `${secret}, x`],
      ...[bot.token, other.secret],
    ])
      await expectStranger({ [SECRET_HEADER]: wrong })
    await expectStranger({})
    for (const credential of [secret, liveKey])
      await expectStranger({ authorization: `Bearer ${credential}` })
    await expectStranger({}, `${path}?secret_token=${secret}`)
  })

  test('to the secret of one bot for another, known or unknown', async () => {
    const polled = await shared.newTenant()
    const others = rows('bots', `where tenant_id = '${polled.id}'`).map(({ id }) => id)
    expect(others).toHaveLength(2)
    for (const id of [
      ...others,
      ...[UNKNOWN_ID, 'x', '%00', '%zz', "'%20or%201=1--", '__proto__', 'x'.repeat(5000)],
      '..%2Ftelegram',
    ])
      await expectStranger({ [SECRET_HEADER]: acme.secret }, `/v1/passepartout/telegram/${id}`)
  })

  test('for a bot that is disabled or removed, and to its secret of before', async () => {
    const other = await hooked(shared)
    const asOther = () => expectStranger({ [SECRET_HEADER]: other.secret }, other.path)
    await bots.disable(actor, other.owner)
    expect(other.bot.webhook).toBeUndefined()
    await asOther()
    await bots.enable(actor, other.owner)
    await until(() => other.bot.webhook !== undefined)
    await asOther()
    const { secret = '' } = other.bot.webhook ?? {}
    expect((await other.bring({ update_id: 1 }, secret)).status).toBe(200)
    await bots.remove(actor, other.owner)
    await expectStranger({ [SECRET_HEADER]: secret }, other.path)
  })
})

describe('with the secret', () => {
  const post = (body: BodyInit | null) => acme.post(body, { [SECRET_HEADER]: acme.secret })

  test('a body that is not JSON or too large is refused', async () => {
    for (const body of ['{', 'update_id=1', '<html>', new Uint8Array([0x7b, 0xff, 0x7d])])
      expectRefused(await post(body), 400, 'invalid_payload')
    expectRefused(await post('x'.repeat(maxBodyBytes + 1)), 413, 'payload_too_large')
  })

  const update_id = 900_000_000
  test.each([
    ...[undefined, null, [], 5, 'x', {}, { message: {} }, { update_id: '900', message: {} }],
    ...[{ update_id: 1.5, message: {} }, { update_id: 1e300, message: {} }, { update_id }],
    ...[
      { update_id, message: 5 },
      { update_id, message: { text: '/start x' } },
    ],
    ...[
      { update_id, callback_query: [] },
      { update_id, callback_query: { id: '1', data: 'x' } },
    ],
  ])('%j is taken without effect', async (update) => {
    const before = everything()
    const answer = await post(update === undefined ? null : JSON.stringify(update))
    expect(answer).toMatchObject({ status: 200, body: {} })
    expect(everything()).toEqual(before)
  })
})

describe('an update counts once', () => {
  test('however often it comes, one after the other or at once', async () => {
    const ada = botApi.person()
    ada.say(acme.bot, 'Hello')
    const [login, other] = [await acme.live.start(), await acme.live.start()]
    const start = startOf(ada, login)
    for (let n = 0; n < 5; n++)
      expect(await acme.bring(start)).toMatchObject({ status: 200, body: {} })
    const again = startOf(ada, other)
    const answers = await Promise.all(Array.from({ length: 20 }, () => acme.bring(again)))
    for (const { status } of answers) expect(status).toBe(200)
    const opened = { state: 'opened', prompts: 1, opener_id: `${ada.id}` }
    expect(attemptsOf(acme).slice(-2)).toMatchObject([opened, opened])

    const before = rows('tokens').length
    const tap = tapOf(ada, `approve.${login.attemptId}`)
    for (let n = 0; n < 5; n++) expect((await acme.bring(tap)).status).toBe(200)
    expect(rows('tokens')).toHaveLength(before + 1)
    expect((await login.status()).body).toMatchObject({ status: 'completed' })
  })

  test('for each bot that has one of its number', async () => {
    const updateId = ++lastUpdateId
    for (const tenant of [acme, await hooked(shared)]) {
      const login = await tenant.live.start()
      await tenant.bring(startOf(botApi.person(), login, updateId))
      expect(attemptsOf(tenant).at(-1)).toMatchObject({ state: 'opened' })
    }
  })
})

describe('updates count in any order', () => {
  test('with a lower number than the one before', async () => {
    const [one, two] = [await acme.live.start(), await acme.live.start()]
    const late = ++lastUpdateId
    await acme.bring(startOf(botApi.person(), two))
    await acme.bring(startOf(botApi.person(), one, late))
    expect(attemptsOf(acme).slice(-2)).toMatchObject([{ state: 'opened' }, { state: 'opened' }])
  })

  test('but a tap before its Start ends nothing', async () => {
    const ada = botApi.person()
    const login = await acme.live.start()
    const tap = () => acme.bring(tapOf(ada, `approve.${login.attemptId}`))
    expect((await tap()).status).toBe(200)
    expect(attemptsOf(acme).find(({ id }) => id === login.attemptId)).toMatchObject({
      state: 'pending',
    })
    await acme.bring(startOf(ada, login))
    await tap()
    expect((await login.status()).body).toMatchObject({ status: 'completed' })
  })

  test('of many people at once one opens the sign-in, and one answer ends it', async () => {
    const people = Array.from({ length: 8 }, () => botApi.person())
    const login = await acme.live.start()
    const attempt = () => rows('attempts', `where id = '${login.attemptId}'`)[0]
    const starts = people.map((person) => acme.bring(startOf(person, login)))
    for (const { status } of await Promise.all(starts)) expect(status).toBe(200)
    expect(people.map(({ id }) => `${id}`)).toContain(attempt().opener_id)

    const before = rows('tokens').length
    const taps = people.flatMap((person) =>
      ['approve', 'deny'].map((choice) =>
        acme.bring(tapOf(person, `${choice}.${login.attemptId}`)),
      ),
    )
    for (const { status } of await Promise.all(taps)) expect(status).toBe(200)
    const { state, person_id } = attempt()
    expect(state).toBeOneOf(['approved', 'denied'])
    expect(rows('tokens').length - before).toBe(state === 'approved' ? 1 : 0)
    expect(person_id === null).toBe(state === 'denied')
  })

  test('and a late one is taken without effect', async () => {
    await using own = await bootPassepartout()
    const tenant = await hooked(own)
    const ada = own.botApi.person()
    const login = await tenant.live.start()
    await tenant.bring(startOf(ada, login))
    own.clock.jump(LIFETIME)
    expect((await tenant.bring(tapOf(ada, `approve.${login.attemptId}`))).status).toBe(200)
    await own.expectNobody(login, 'nonce_expired')
  })
})

test('many people sign in at once through a webhook that is called forty times at once', async () => {
  await using own = await listening(await bootPassepartout())
  own.botApi.pushAtOnce(own.bot, 40)
  const people = Array.from({ length: 30 }, () => own.botApi.person())
  const signedIn = await Promise.all(people.map((person) => own.signIn(own, person)))
  expect(new Set(signedIn.map(({ user }) => user.id)).size).toBe(30)
  for (const [at, { user }] of signedIn.entries())
    expect(user.platform_user_id).toBe(`${people[at]?.id}`)
  expect(own.botApi.callsOf('getUpdates')).toEqual([])
  for (const text of [own.secret, own.bot.token, own.bot.token.split(':')[1] as string])
    expect(own.app.log.filter((line) => line.includes(text))).toEqual([])
})

describe('on a full disk', () => {
  function fillDisk({ app }: Fixture) {
    const { client } = app.db
    const { page_count } = client.query('pragma page_count').get() as Json
    client.run(`pragma max_page_count = ${page_count}`)
    return () => client.run('pragma max_page_count = 1000000')
  }

  test('an update is answered with 503 and not taken; once there is room, it counts', async () => {
    await using own = await bootPassepartout()
    const tenant = await hooked(own)
    const logins = await Promise.all(Array.from({ length: 300 }, () => tenant.live.start()))
    const starts = logins.map((login) => startOf(own.botApi.person(), login))
    const makeRoom = fillDisk(own)
    let taken = 0
    let answer = await tenant.bring(starts[0])
    for (; answer.status === 200; answer = await tenant.bring(starts[taken])) taken++
    expectRefused(answer, 503, 'unavailable', 'storage: the disk is full')
    expect(answer.headers.get('retry-after')).toBe('1')
    expect((await tenant.bring(starts[taken])).status).toBe(503)
    const opened = () => own.rows('attempts', `where state = 'opened' and prompts = 1`).length
    expect([opened(), own.rows('updates').length]).toEqual([taken, taken])

    makeRoom()
    for (let n = 0; n < 2; n++) expect((await tenant.bring(starts[taken])).status).toBe(200)
    expect(opened()).toBe(taken + 1)
  })

  test('a start is answered with 503 and leaves nothing', async () => {
    await using own = await bootPassepartout()
    const tenant = await hooked(own)
    const makeRoom = fillDisk(own)
    const ask = () => tenant.live.post(START, { client: { user_agent: 'x'.repeat(500) } })
    let stored = 0
    let answer = await ask()
    for (; answer.status === 200; answer = await ask()) stored++
    expectRefused(answer, 503, 'unavailable', 'storage: the disk is full')
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(own.attemptsOf(tenant)).toHaveLength(stored)
    makeRoom()
    expect((await ask()).status).toBe(200)
    expect(own.attemptsOf(tenant)).toHaveLength(stored + 1)
  })
})
