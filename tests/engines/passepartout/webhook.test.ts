import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { serve } from '../../../src/http/serve.ts'
import { until } from '../../support/binary.ts'
import type { Person } from '../../support/bot-api/index.ts'
import { testConfig } from '../../support/config.ts'
import { bootContract, expectRefused, type Json, LIFETIME } from './contract.ts'

const { maxBodyBytes } = testConfig().server
const SECRET_HEADER = 'x-telegram-bot-api-secret-token'
const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'

type Hooked = Awaited<ReturnType<typeof bootHooked>>

/** An application that listens, and a tenant whose live bot is told by webhook. */
async function bootHooked() {
  const fixture = await bootContract()
  const { app, botApi, actor } = fixture
  const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
  const mine = await hookedParty('Acme')

  async function hookedParty(name: string) {
    const tenant = await fixture.bareParty(name)
    const bot = botApi.bot({ name })
    const owner = { tenantId: tenant.id, environment: 'live' } as const
    const { bots } = app.passepartout
    await bots.set(actor, owner, { token: bot.token, transport: 'webhook' })
    await bots.enable(actor, owner)
    await until(() => bot.webhook !== undefined)
    const { url, secret } = bot.webhook as { url: string; secret: string }
    return { ...tenant, owner, bot, secret, path: new URL(url).pathname }
  }

  /** As Telegram would, with these headers besides. */
  const post = (path: string, body: BodyInit | null, headers: Record<string, string> = {}) =>
    fixture.raw(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })

  const bring = (update: unknown, { path, secret } = mine) =>
    post(path, JSON.stringify(update), { [SECRET_HEADER]: secret })

  /** A private chat in which the bot may write. */
  async function chatWith(fields = {}) {
    const person = botApi.person({ language_code: 'en', ...fields })
    person.say(mine.bot, 'Hello')
    await person.waitForMessage(mine.bot)
    return person
  }

  async function stop() {
    await listener.stop()
    await fixture.stop()
  }

  return { ...fixture, mine, hookedParty, post, bring, chatWith, stop, [Symbol.asyncDispose]: stop }
}

let fixture: Hooked
beforeAll(async () => {
  fixture = await bootHooked()
})
afterAll(() => fixture.stop())

let lastUpdateId = 800_000_000
const userOf = ({ id, first_name, language_code }: Person) => ({
  id,
  is_bot: false,
  first_name,
  language_code,
})

const messageOf = (person: Person, text: string, update_id = ++lastUpdateId) => ({
  update_id,
  message: {
    message_id: 1000,
    from: userOf(person),
    chat: { id: person.id, type: 'private', first_name: person.first_name },
    date: 1772366430,
    text,
  },
})

const startOf = (person: Person, deepLink: string, updateId?: number) =>
  messageOf(person, `/start ${new URL(deepLink).searchParams.get('start')}`, updateId)

const tapOf = (person: Person, data: string, update_id = ++lastUpdateId) => ({
  update_id,
  callback_query: {
    id: `${update_id}`,
    from: userOf(person),
    message: {
      message_id: 1001,
      chat: { id: person.id, type: 'private' },
      date: 1772366430,
      text: '?',
    },
    chat_instance: '1',
    data,
  },
})

/** The last attempt as it is stored. */
const lastAttempt = ({ app } = fixture): Json =>
  app.db.client.query('select * from passepartout_attempts order by seq desc limit 1').get()

const attemptOf = (id: string, { app } = fixture): Json =>
  app.db.client.query('select * from passepartout_attempts where id = ?').get(id)

const rows = (from: string, { app } = fixture): number =>
  (app.db.client.query(`select count(*) as n from passepartout_${from}`).get() as Json).n

const questionsIn = (person: Person) =>
  person.chat(fixture.mine.bot).filter(({ buttons }) => buttons.length > 0)

/** All that is known of what came in by webhooks. */
const everything = () =>
  ['updates', 'attempts', 'people', 'tokens', 'prompts'].map((table) =>
    fixture.app.db.client.query(`select * from passepartout_${table}`).all(),
  )

test('a sign-in goes through a webhook as it does by polling', async () => {
  const { mine, botApi } = fixture
  const ada = botApi.person({ language_code: 'en' })
  const { user, token } = await fixture.signIn({ live: mine.live, bot: mine.bot }, ada)
  expect(user).toMatchObject({ platform_user_id: `${ada.id}` })
  expect(await mine.live.introspect(token)).toMatchObject({ active: true })
  expect(botApi.callsOf('getUpdates')).toEqual([])
})

describe('401', () => {
  const BODIES: [string, BodyInit | null][] = [
    ['nothing', null],
    ['a good update', '{"update_id":1}'],
    ['no JSON', '{'],
    ['more than fits', 'x'.repeat(maxBodyBytes + 1)],
    ['bytes', new Uint8Array([0xff, 0xfe])],
  ]

  async function expectNobody(path: string, headers: Record<string, string>) {
    const before = everything()
    for (const [, body] of BODIES) {
      const answer = await fixture.post(path, body, headers)
      expectRefused(answer, 401, 'unauthenticated', 'unknown webhook, or wrong secret')
    }
    expect(everything()).toEqual(before)
  }

  test.each(['', 'x', 'wrong'])('to the secret %j, whatever the body', (secret) =>
    expectNobody(fixture.mine.path, { [SECRET_HEADER]: secret }),
  )

  test('without a secret', () => expectNobody(fixture.mine.path, {}))

  test('to a secret that is cut, longer, or spelled otherwise', async () => {
    const { path, secret } = fixture.mine
    for (const wrong of [secret.slice(1), `${secret}x`, secret.toUpperCase(), `${secret}, x`])
      await expectNobody(path, { [SECRET_HEADER]: wrong })
  })

  test('to the token of the bot, to a key, and to the secret in another place', async () => {
    const { path, secret, bot, liveKey } = fixture.mine
    await expectNobody(path, { [SECRET_HEADER]: bot.token })
    await expectNobody(path, { authorization: `Bearer ${liveKey}` })
    await expectNobody(path, { authorization: `Bearer ${secret}` })
    await expectNobody(`${path}?secret_token=${secret}`, {})
  })

  test('to the secret of another bot', async () => {
    const other = await fixture.hookedParty('Other')
    await expectNobody(fixture.mine.path, { [SECRET_HEADER]: other.secret })
    await expectNobody(other.path, { [SECRET_HEADER]: fixture.mine.secret })
  })

  test.each([
    UNKNOWN_ID,
    'x',
    '%00',
    '%zz',
    "'%20or%201=1--",
    '__proto__',
    'x'.repeat(5000),
    '..%2Ftelegram',
  ])('for the unknown bot %s', (id) =>
    expectNobody(`/v1/passepartout/telegram/${id}`, { [SECRET_HEADER]: fixture.mine.secret }),
  )

  test('for a bot that is polled, for one of the sandbox', async () => {
    const polled = await fixture.party('Polled')
    for (const environment of ['live', 'test']) {
      const { id } = fixture.app.db.client
        .query('select id from passepartout_bots where tenant_id = ? and environment = ?')
        .get(polled.id, environment) as { id: string }
      await expectNobody(`/v1/passepartout/telegram/${id}`, {
        [SECRET_HEADER]: fixture.mine.secret,
      })
    }
  })

  test('for a disabled bot; and once it is enabled again, to the secret that it had before', async () => {
    const other = await fixture.hookedParty('Fickle')
    const { bots } = fixture.app.passepartout
    await bots.disable(fixture.actor, other.owner)
    expect(other.bot.webhook).toBeUndefined()
    await expectNobody(other.path, { [SECRET_HEADER]: other.secret })

    await bots.enable(fixture.actor, other.owner)
    await until(() => other.bot.webhook !== undefined)
    await expectNobody(other.path, { [SECRET_HEADER]: other.secret })
    const secret = other.bot.webhook?.secret ?? ''
    expect((await fixture.bring({ update_id: 1 }, { ...other, secret })).status).toBe(200)
  })

  test('for a bot whose token was removed', async () => {
    const other = await fixture.hookedParty('Gone')
    await fixture.app.passepartout.bots.remove(fixture.actor, other.owner)
    await expectNobody(other.path, { [SECRET_HEADER]: other.secret })
  })
})

describe('to whoever shows the secret, the body counts', () => {
  const bringText = (body: BodyInit | null, type: string | null = 'application/json') => {
    const { path, secret } = fixture.mine
    return fixture.raw(path, {
      method: 'POST',
      headers: { [SECRET_HEADER]: secret, ...(type !== null && { 'content-type': type }) },
      body,
    })
  }

  test.each(['{', '{"update_id":1', 'update_id=1', '<html>', `${'['.repeat(65)}${']'.repeat(65)}`])(
    '400 to %s',
    async (body) => expectRefused(await bringText(body), 400, 'invalid_payload', 'body: '),
  )

  test('400 to bytes that are no text', async () =>
    expectRefused(await bringText(new Uint8Array([0x7b, 0xff, 0x7d])), 400, 'invalid_payload'))

  test.each([null, 'text/plain', 'application/x-www-form-urlencoded'])(
    '415 to the type %j',
    async (type) => expectRefused(await bringText('{}', type), 415, 'unsupported_media_type'),
  )

  test('413 to more than fits', async () =>
    expectRefused(await bringText('x'.repeat(maxBodyBytes + 1)), 413, 'payload_too_large'))

  const id = 900_000_000
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a list', []],
    ['a number', 5],
    ['text', 'x'],
    ['an empty object', {}],
    ['an update without a number', { message: {} }],
    ['one with a number that is text', { update_id: `${id}`, message: {} }],
    ['one with a fraction', { update_id: 1.5, message: {} }],
    ['one with a number beyond all', { update_id: 1e300, message: {} }],
    ['an update about nothing', { update_id: id }],
    ['one of a kind that nobody knows', { update_id: id, quantum_state: { from: 1 } }],
    ['a message that is none', { update_id: id, message: 5 }],
    ['a message of nobody', { update_id: id, message: { text: '/start x' } }],
    ['a tap that is none', { update_id: id, callback_query: [] }],
    ['a tap of nobody', { update_id: id, callback_query: { id: '1', data: 'deny.x' } }],
  ])('200 to %s, without effect', async (_, update) => {
    const before = everything()
    const answer = await bringText(update === undefined ? null : JSON.stringify(update))
    expect(answer).toMatchObject({ status: 200, body: {} })
    expect(everything()).toEqual(before)
  })

  test('200 to what is said in a group, by a bot, or in the name of a channel, without effect', async () => {
    const ada = await fixture.chatWith()
    const { deep_link } = await fixture.mine.live.start()
    const said = startOf(ada, deep_link)
    const before = everything()
    for (const message of [
      { ...said.message, chat: { id: -1001, type: 'supergroup' } },
      { ...said.message, chat: { id: -5, type: 'group' } },
      { ...said.message, from: { ...said.message.from, is_bot: true } },
      { ...said.message, from: undefined },
      { ...said.message, from: { ...said.message.from, id: ada.id + 1 } },
      { ...said.message, from: { ...said.message.from, id: `${ada.id}` } },
    ])
      expect(await fixture.bring({ update_id: ++lastUpdateId, message })).toMatchObject({
        status: 200,
      })
    expect(everything()).toEqual(before)
    expect(lastAttempt()).toMatchObject({ state: 'pending', opener_id: null })
  })

  test.each(['GET', 'PUT', 'PATCH', 'DELETE'])('405 to %s', async (method) => {
    const { status, headers } = await fixture.app.raw(fixture.mine.path, { method })
    expect(status).toBe(405)
    expect(headers.get('allow')).toBe('POST')
  })
})

describe('an update counts once', () => {
  test('however often it is brought', async () => {
    const ada = await fixture.chatWith()
    const { nonce, deep_link } = await fixture.mine.live.start()
    const { id } = lastAttempt()
    const start = startOf(ada, deep_link)
    for (let n = 0; n < 5; n++)
      expect(await fixture.bring(start)).toMatchObject({ status: 200, body: {} })
    expect(attemptOf(id)).toMatchObject({ state: 'opened', prompts: 1, opener_id: `${ada.id}` })
    await ada.waitForMessage(fixture.mine.bot, ({ buttons }) => buttons.length > 0)
    expect(questionsIn(ada)).toHaveLength(1)

    const before = rows('tokens')
    const tap = tapOf(ada, `approve.${id}`)
    for (let n = 0; n < 5; n++) expect((await fixture.bring(tap)).status).toBe(200)
    expect(rows('tokens')).toBe(before + 1)
    expect((await fixture.mine.live.status(nonce)).body).toMatchObject({ status: 'completed' })
  })

  test('also when it is brought many times at once', async () => {
    const ada = await fixture.chatWith()
    const { deep_link } = await fixture.mine.live.start()
    const { id } = lastAttempt()
    const start = startOf(ada, deep_link)
    const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.bring(start)))
    for (const { status } of answers) expect(status).toBe(200)
    expect(attemptOf(id)).toMatchObject({ state: 'opened', prompts: 1 })
  })

  test('and of two bots each has its own, by the same number', async () => {
    const other = await fixture.hookedParty('Twin')
    const updateId = ++lastUpdateId
    for (const to of [fixture.mine, other]) {
      const ada = fixture.botApi.person({ language_code: 'en' })
      const { deep_link } = await to.live.start()
      const { id } = lastAttempt()
      expect((await fixture.bring(startOf(ada, deep_link, updateId), to)).status).toBe(200)
      expect(attemptOf(id)).toMatchObject({ state: 'opened' })
    }
  })
})

describe('updates count in whatever order they come', () => {
  test('one with a lower number than others before it', async () => {
    const [ada, bea] = [await fixture.chatWith(), await fixture.chatWith()]
    const [one, two] = [await fixture.mine.live.start(), await fixture.mine.live.start()]
    const late = ++lastUpdateId
    await fixture.bring(startOf(bea, two.deep_link))
    await fixture.bring(startOf(ada, one.deep_link, late))
    expect(rows(`attempts where opener_id in ('${ada.id}', '${bea.id}')`)).toBe(2)
  })

  test('a tap before the Start that it belongs to ends nothing', async () => {
    const ada = await fixture.chatWith()
    const { nonce, deep_link } = await fixture.mine.live.start()
    const { id } = lastAttempt()
    expect((await fixture.bring(tapOf(ada, `approve.${id}`))).status).toBe(200)
    expect(attemptOf(id)).toMatchObject({ state: 'pending' })
    await fixture.bring(startOf(ada, deep_link))
    await fixture.bring(tapOf(ada, `approve.${id}`))
    expect((await fixture.mine.live.status(nonce)).body).toMatchObject({ status: 'completed' })
  })

  test('of many at once one opens the sign-in, and one answer ends it', async () => {
    const people = await Promise.all(Array.from({ length: 8 }, () => fixture.chatWith()))
    const { deep_link } = await fixture.mine.live.start()
    const { id } = lastAttempt()
    const starts = people.map((person) => fixture.bring(startOf(person, deep_link)))
    for (const { status } of await Promise.all(starts)) expect(status).toBe(200)
    const { opener_id } = attemptOf(id)
    expect(people.map((person) => `${person.id}`)).toContain(opener_id)

    const before = [rows('tokens'), rows('people')]
    const taps = people.flatMap((person) =>
      ['approve', 'deny'].map((choice) => fixture.bring(tapOf(person, `${choice}.${id}`))),
    )
    for (const { status } of await Promise.all(taps)) expect(status).toBe(200)
    const { state, person_id } = attemptOf(id)
    expect(state).toBeOneOf(['approved', 'denied'])
    expect(rows('tokens') - (before[0] as number)).toBe(state === 'approved' ? 1 : 0)
    expect(person_id === null).toBe(state === 'denied')
  })

  test('many people at once all sign in, pushed by forty', async () => {
    await using own = await bootHooked()
    const { mine, botApi } = own
    botApi.pushAtOnce(mine.bot, 40)
    const people = Array.from({ length: 30 }, () => botApi.person({ language_code: 'en' }))
    const signedIn = await Promise.all(
      people.map((person) => own.signIn({ live: mine.live, bot: mine.bot }, person)),
    )
    expect(new Set(signedIn.map(({ user }) => user.id)).size).toBe(30)
    for (const [at, { user }] of signedIn.entries())
      expect(user.platform_user_id).toBe(`${people[at]?.id}`)
  })

  test('pushes that are late come to nothing, and are taken', async () => {
    await using own = await bootHooked()
    const ada = await own.chatWith()
    const { nonce, deep_link } = await own.mine.live.start()
    const { id } = lastAttempt(own)
    await own.bring(startOf(ada, deep_link))
    own.clock.jump(LIFETIME)
    expect((await own.bring(tapOf(ada, `approve.${id}`))).status).toBe(200)
    expectRefused(await own.mine.live.status(nonce), 404, 'nonce_expired')
    expect(rows('tokens', own)).toBe(0)
  })
})

describe('what finds no room', () => {
  const fillDisk = ({ app }: Hooked) => {
    const { client } = app.db
    const { page_count } = client.query('pragma page_count').get() as { page_count: number }
    client.run(`pragma max_page_count = ${page_count}`)
  }
  const makeRoom = ({ app }: Hooked) => app.db.client.run('pragma max_page_count = 1000000')

  test('is answered with 503 and not taken; brought again once there is room, it counts', async () => {
    await using own = await bootHooked()
    const { live } = own.mine
    const started: Json[] = await Promise.all(Array.from({ length: 300 }, () => live.start()))
    const person = (n: number) => own.botApi.person({ id: 6_000_000_000 + n, language_code: 'en' })
    const starts = started.map(({ deep_link }, n) => startOf(person(n), deep_link))
    fillDisk(own)

    let refused: number | undefined
    for (const [n, start] of starts.entries()) {
      const answer = await own.bring(start)
      if (answer.status === 200) continue
      expectRefused(answer, 503, 'unavailable', 'storage: the disk is full')
      expect(answer.headers.get('retry-after')).toBe('1')
      refused = n
      break
    }
    expect(refused).toBeDefined()
    const at = refused as number
    const opener = `${6_000_000_000 + at}`
    expect((await own.bring(starts[at])).status).toBe(503)
    expect(rows(`attempts where opener_id = '${opener}'`, own)).toBe(0)
    expect(rows('updates', own)).toBe(at)

    makeRoom(own)
    for (let n = 0; n < 2; n++) expect((await own.bring(starts[at])).status).toBe(200)
    expect(rows(`attempts where state = 'opened' and prompts = 1`, own)).toBe(at + 1)
    expect(rows(`attempts where opener_id = '${opener}'`, own)).toBe(1)
  })

  test('is refused to whoever starts a sign-in, too, and nothing is left of it', async () => {
    await using own = await bootHooked()
    const { live } = own.mine
    fillDisk(own)
    const client = { user_agent: 'x'.repeat(500) }
    const ask = () => live.post('/v1/passepartout/login/start', { client })
    let stored = 0
    let answer = await ask()
    for (; answer.status === 200; answer = await ask()) stored++
    expectRefused(answer, 503, 'unavailable', 'storage: the disk is full')
    expect(rows('attempts', own)).toBe(stored)
    makeRoom(own)
    expect((await ask()).status).toBe(200)
    expect(rows('attempts', own)).toBe(stored + 1)
  })
})

test('neither the secret nor the token of the bot is in the log', () => {
  const { secret, bot } = fixture.mine
  for (const text of [secret, bot.token, bot.token.split(':')[1] as string])
    expect(fixture.app.log.filter((line) => line.includes(text))).toEqual([])
})
