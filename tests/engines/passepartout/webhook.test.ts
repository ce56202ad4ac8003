import { expect, test } from 'bun:test'
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

const TOO_LARGE = 'x'.repeat(testConfig().server.maxBodyBytes + 1)
const SECRET_HEADER = 'x-telegram-bot-api-secret-token'

let lastUpdateId = 800_000_000

/** What each message of a person has. */
const of = ({ id, first_name }: Person) => ({
  ...{ message_id: 1000, date: 1_772_366_430, chat: { id, type: 'private' } },
  from: { id, is_bot: false, first_name },
})

const startOf = (person: Person, { payload }: Login, update_id = ++lastUpdateId) => ({
  update_id,
  message: { ...of(person), text: `/start ${payload}` },
})

function tapOf(person: Person, choice: string, { attemptId }: Login) {
  const { from, ...message } = of(person)
  const update_id = ++lastUpdateId
  const tap = { id: `${update_id}`, from, message, data: `${choice}.${attemptId}` }
  return { update_id, callback_query: tap }
}

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
  const tokens = () => fixture.rowsOf(tenant, 'tokens').length
  return { ...tenant, bot, secret, path, post, bring, tokens }
}

const shared = await usePassepartout()
const { actor, attemptsOf, bots, botApi, rows } = shared
const acme = await hooked(shared)

/** Everything that updates change. */
const everything = () =>
  ['updates', 'attempts', 'people', 'tokens', 'prompts'].map((table) => rows(table))

async function expectStranger(headers: Record<string, string>, path?: string) {
  const before = everything()
  const bodies = [null, '{"update_id":1}', '{', TOO_LARGE, new Uint8Array([0xff, 0xfe])]
  for (const body of bodies)
    expectRefused(await acme.post(body, headers, path), 401, 'unauthenticated')
  expect(everything()).toEqual(before)
}

test('A wrong secret, or that of another bot, is answered with 401, whatever the body', async () => {
  const { secret, bot, liveKey, path } = acme
  const polled = await shared.newTenant()
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
  expect(shared.app.log.filter((line) => line.includes(secret))).toEqual([])
  const [one, two] = shared.rowsOf(polled, 'bots')
  for (const id of [
    ...[one.id, two.id, '01890000-0000-7000-8000-000000000000', 'x', '%00', '%zz'],
    ...["'%20or%201=1--", '__proto__', 'x'.repeat(5000), '..%2Ftelegram'],
  ])
    await expectStranger({ [SECRET_HEADER]: secret }, `/v1/passepartout/telegram/${id}`)
})

test('The former secret of a bot, and that of one that is disabled or removed, is answered with 401', async () => {
  const other = await hooked(shared)
  const asOther = (secret = other.secret) => expectStranger({ [SECRET_HEADER]: secret }, other.path)
  await bots.disable(actor, other.owner)
  expect(other.bot.webhook).toBeUndefined()
  await asOther()
  await bots.enable(actor, other.owner)
  await until(() => other.bot.webhook !== undefined)
  await asOther()
  const { secret } = other.bot.webhook ?? {}
  expect((await other.bring({ update_id: 1 }, secret)).status).toBe(200)
  await bots.remove(actor, other.owner)
  await asOther(secret)
})

test('A body that is not JSON or too large is refused, and any other is taken without effect', async () => {
  const post = (body: BodyInit | null) => acme.post(body, { [SECRET_HEADER]: acme.secret })
  for (const body of ['{', 'update_id=1', '<html>', new Uint8Array([0x7b, 0xff, 0x7d])])
    expectRefused(await post(body), 400, 'invalid_payload')
  expectRefused(await post(TOO_LARGE), 413, 'payload_too_large')
  const update_id = 900_000_000
  const before = everything()
  for (const update of [
    ...[null, [], 5, 'x', {}, { message: {} }, { update_id: '900', message: {} }, { update_id }],
    ...[1.5, 1e300].map((odd) => ({ update_id: odd, message: {} })),
    ...[5, { text: '/start x' }].map((message) => ({ update_id, message })),
    ...[[], { id: '1', data: 'x' }].map((callback_query) => ({ update_id, callback_query })),
  ])
    expect(await post(JSON.stringify(update))).toMatchObject({ status: 200, body: {} })
  expect(await post(null)).toMatchObject({ status: 200, body: {} })
  expect(everything()).toEqual(before)
})

const opened = { state: 'opened', prompts: 1 }

test('An update counts once for its bot, however often it comes, one after the other or at once', async () => {
  const ada = botApi.person()
  const [login, other] = [await acme.live.start(), await acme.live.start()]
  const start = startOf(ada, login)
  for (let n = 0; n < 3; n++)
    expect(await acme.bring(start)).toMatchObject({ status: 200, body: {} })
  const again = startOf(ada, other)
  const answers = await Promise.all(Array.from({ length: 9 }, () => acme.bring(again)))
  for (const { status } of answers) expect(status).toBe(200)
  const byAda = { ...opened, opener_id: `${ada.id}` }
  expect(attemptsOf(acme).slice(-2)).toMatchObject([byAda, byAda])
  const before = acme.tokens()
  const tap = tapOf(ada, 'approve', login)
  for (let n = 0; n < 3; n++) expect((await acme.bring(tap)).status).toBe(200)
  expect(acme.tokens()).toBe(before + 1)
  // Another bot has updates of the same numbers.
  const elsewhere = await hooked(shared)
  const theirs = await elsewhere.live.start()
  await elsewhere.bring(startOf(botApi.person(), theirs, start.update_id))
  expect(attemptsOf(elsewhere)).toMatchObject([opened])
})

test('An update that came by polling counts once when the webhook brings it again', async () => {
  const tenant = await shared.newTenant()
  const { bot, owner } = tenant
  const bob = botApi.person()
  const { login, question } = await shared.ask(tenant, bob)
  const tapped = bob.tap(question, 'Approve')
  await botApi.waitForAnswer(tapped)
  await bots.set(actor, owner, { transport: 'webhook' })
  await shared.turnUntil(() => bot.webhook !== undefined)
  const update = { ...tapOf(bob, 'approve', login), update_id: 500_000_002 }
  const { url = '', secret } = bot.webhook ?? {}
  const answers = [update, { ...update, update_id: 500_000_003 }].map((each) =>
    acme.post(JSON.stringify(each), { [SECRET_HEADER]: `${secret}` }, new URL(url).pathname),
  )
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200)
  await shared.expectSignedIn(login, bob)
})

test('Updates count in any order, but a tap before its Start ends nothing, nor does a late one', async () => {
  const ada = botApi.person()
  const [login, late] = [await acme.live.start(), await acme.live.start()]
  const tap = async (to: Login) => (await acme.bring(tapOf(ada, 'approve', to))).status
  const [first, second] = [startOf(ada, late), startOf(ada, login)]
  expect(await tap(login)).toBe(200)
  expect((await login.status()).body).toEqual({ status: 'pending' })
  for (const start of [second, first]) await acme.bring(start)
  await tap(login)
  expect((await login.status()).body).toMatchObject({ status: 'completed' })
  const before = acme.tokens()
  shared.clock.jump(LIFETIME)
  expect(await tap(late)).toBe(200)
  expectRefused(await late.status(), 404, 'nonce_expired')
  expect(acme.tokens()).toBe(before)
})

test('Of many people at once, one opens the sign-in, and one answer ends it', async () => {
  const people = Array.from({ length: 8 }, () => botApi.person())
  const login = await acme.live.start()
  const attempt = () => rows('attempts', `where id = '${login.attemptId}'`)[0]
  const starts = people.map((person) => acme.bring(startOf(person, login)))
  for (const { status } of await Promise.all(starts)) expect(status).toBe(200)
  expect(people.map(({ id }) => `${id}`)).toContain(attempt().opener_id)
  const before = acme.tokens()
  const taps = people.flatMap((person) =>
    ['approve', 'deny'].map((choice) => acme.bring(tapOf(person, choice, login))),
  )
  for (const { status } of await Promise.all(taps)) expect(status).toBe(200)
  const { state, person_id } = attempt()
  expect(state).toBeOneOf(['approved', 'denied'])
  expect(acme.tokens() - before).toBe(state === 'approved' ? 1 : 0)
  expect(person_id === null).toBe(state === 'denied')
})

test('On a full disk starts and updates are answered with 503 and leave nothing, and then count', async () => {
  await using own = await bootPassepartout()
  const tenant = await hooked(own)
  const { client } = own.app.db
  const logins = await Promise.all(Array.from({ length: 100 }, () => tenant.live.start()))
  const starts = logins.map((login) => startOf(own.botApi.person(), login))
  const { page_count } = client.query('pragma page_count').get() as Json
  client.run(`pragma max_page_count = ${page_count}`)
  let taken = 0
  let answer = await tenant.bring(starts[0])
  for (; answer.status === 200; answer = await tenant.bring(starts[taken])) taken++
  const body = { client: { user_agent: 'x'.repeat(500) } }
  let started = 0
  let start = await tenant.live.post(START, body)
  for (; start.status === 200; start = await tenant.live.post(START, body)) started++
  for (const refused of [answer, start]) {
    expectRefused(refused, 503, 'unavailable', 'storage: the disk is full')
    expect(refused.headers.get('retry-after')).toBe('1')
  }
  expect(own.attemptsOf(tenant)).toHaveLength(100 + started)
  const opened = () => own.rows('attempts', `where state = 'opened' and prompts = 1`).length
  expect([opened(), own.rows('updates').length]).toEqual([taken, taken])
  client.run('pragma max_page_count = 1000000')
  for (let n = 0; n < 2; n++) expect((await tenant.bring(starts[taken])).status).toBe(200)
  expect(opened()).toBe(taken + 1)
})

test('What a person sends while the replica is late is answered once the replica has it', async () => {
  const fixture = await bootPassepartout()
  try {
    const { bring, live, bot } = await hooked(fixture)
    const login = await live.start()
    const ada = fixture.botApi.person()
    const replica = Promise.withResolvers<void>()
    const late = Promise.withResolvers<unknown>()
    const confirm = () => replica.promise
    const rest = { timeoutMs: 20, onTimeout: 'refuse', onChange: late.resolve } as const
    const { db } = fixture.app
    db.confirmBy({ confirm, ...rest })
    const brought = bring(startOf(ada, login))
    await until(() => fixture.rows('updates').length > 0)
    await db.commit(() => {}).catch(() => late.promise)
    expect(fixture.callsBy(bot, 'sendMessage')).toEqual([])
    replica.resolve()
    expect((await brought).status).toBe(200)
    await until(() => fixture.callsBy(bot, 'sendMessage').length > 0)
  } finally {
    await fixture.stop()
  }
})
