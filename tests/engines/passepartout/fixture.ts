import { afterAll, expect } from 'bun:test'
import { sha256 } from '../../../src/platform/crypto.ts'
import { type Answer, bootTestApp, type TestAppOptions } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import {
  type BotMessage,
  type Person,
  startBotApi,
  type TestBot,
} from '../../support/bot-api/index.ts'
import { expectDescribed } from '../../support/described.ts'

export const START = '/v1/passepartout/login/start'
export const STATUS = '/v1/passepartout/login/status'
export const INTROSPECT = '/v1/passepartout/tokens/introspect'
export const REVOKE = '/v1/passepartout/tokens/revoke'
export const USERS = '/v1/passepartout/users'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const LIFETIME = 5 * MINUTE

export const CLIENT = { label: 'Shop', ip: '203.0.113.7' }

const ACTOR = { kind: 'cli', source: 'test' } as const

export const statusOf = (nonce: string, wait?: number) =>
  `${STATUS}?nonce=${encodeURIComponent(nonce)}${wait === undefined ? '' : `&wait=${wait}`}`

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
export type Json = any

export type Fixture = Awaited<ReturnType<typeof bootPassepartout>>
export type Tenant = Awaited<ReturnType<Fixture['newTenant']>>

/** A sign-in as its app knows it, and what only the server knows. */
export interface Login
  extends Record<'nonce' | 'deep_link' | 'expires_at' | 'match_code', string>,
    Record<'payload' | 'attemptId' | 'tenantId', string> {
  status: () => Promise<Answer>
}

/** The messenger login of a test file; each test takes a tenant. */
export async function usePassepartout(options: TestAppOptions = {}) {
  const fixture = await bootPassepartout(options)
  afterAll(fixture.stop)
  return fixture
}

let document: Json

/** The application and a Bot API server. Every answer has to be one that the API document has. */
export async function bootPassepartout(options: TestAppOptions = {}) {
  const botApi = startBotApi()
  const flags = { 'passepartout-telegram-api-root': botApi.url, ...options.flags }
  const app = await bootTestApp({ ...options, flags })
  const { bots } = app.passepartout
  document ??= (await app.raw('/openapi.json')).body

  async function raw(path: string, init: RequestInit = {}): Promise<Answer> {
    const answer = await app.raw(path, init)
    expectDescribed(document, (init.method ?? 'GET').toLowerCase(), path, answer)
    if (answer.status >= 400) expectRefused(answer, answer.status, answer.body.error.code)
    return answer
  }

  function speak(key: string) {
    const headers = { authorization: `Bearer ${key}` }
    const get = (path: string, signal?: AbortSignal) => raw(path, { headers, signal })
    const postText = (path: string, body: string, type = 'application/json') =>
      raw(path, { method: 'POST', headers: { ...headers, 'content-type': type }, body })
    const post = (path: string, body: unknown = null) => postText(path, JSON.stringify(body))
    const status = (nonce: string, wait?: number) => get(statusOf(nonce, wait))

    async function start(client?: Json): Promise<Login> {
      const body = bodyOf(await post(START, client && { client }))
      const [attempt] = rows('attempts', `where nonce_hash = '${sha256(body.nonce)}'`)
      return {
        ...body,
        payload: body.deep_link.slice(-43),
        attemptId: attempt.id,
        tenantId: attempt.tenant_id,
        status: () => status(body.nonce),
      }
    }

    return {
      ...{ get, post, postText, start, status },
      delete: (path: string) => raw(path, { method: 'DELETE', headers }),
      introspect: async (token: unknown): Promise<Json> =>
        bodyOf(await post(INTROSPECT, { access_token: token })),
      revoke: (token: unknown) => post(REVOKE, { access_token: token }),
    }
  }

  type Api = ReturnType<typeof speak>

  async function newTenantWithoutBots(name = 'Acme') {
    const { id, key } = await app.tenant(name)
    const { key: liveKey } = await key('passepartout', 'live')
    const { key: testKey } = await key('passepartout', 'test')
    const owner = { tenantId: id, environment: 'live' } as const
    const sandbox = { tenantId: id, environment: 'test' } as const
    const api = { live: speak(liveKey), test: speak(testKey) }
    return { id, key, owner, sandbox, liveKey, testKey, ...api }
  }

  /** A tenant with a live bot and a test bot in use; `await using` ends the polls of its bot. */
  async function newTenant(name = 'Acme') {
    const tenant = await newTenantWithoutBots(name)
    const bot = botApi.bot({ name })
    await bots.set(ACTOR, tenant.owner, { token: bot.token })
    for (const owner of [tenant.owner, tenant.sandbox]) await bots.enable(ACTOR, owner)
    await botApi.waitForPoller(bot)
    const retire = async () => void (await bots.disable(ACTOR, tenant.owner))
    return { ...tenant, bot, [Symbol.asyncDispose]: retire }
  }

  function choose({ deep_link }: Pick<Login, 'deep_link'>, choice: string, person = 'ada') {
    const body = new URLSearchParams({ choice, person })
    return app.raw(new URL(deep_link).pathname, { method: 'POST', body })
  }

  async function signInToSandbox({ test }: { test: Api }, person = 'ada') {
    const login = await test.start()
    expect(await choose(login, 'approve', person)).toMatchObject({ status: 303 })
    return { ...login, ...tokenOf(await login.status()) }
  }

  /** Follows the link. Resolves with the bot's reply, a question or not. */
  async function open(bot: TestBot, person: Person, login: Pick<Login, 'deep_link'>) {
    const before = person.chat(bot).length
    person.follow(login.deep_link)
    return await person.waitForMessage(bot, () => person.chat(bot).length > before)
  }

  async function ask({ live, bot }: { live: Api; bot: TestBot }, person: Person, client?: Json) {
    const login = await live.start(client)
    return { login, question: await open(bot, person, login) }
  }

  /** Taps a button, or sends the data of a forged one. Resolves with the notice that is shown. */
  async function tap(person: Person, message: BotMessage, button: string | { data: string }) {
    const isForged = typeof button !== 'string'
    const tapped = isForged ? person.tapData(message, button.data) : person.tap(message, button)
    const { text } = await botApi.waitForAnswer(tapped)
    await app.passepartout.idle()
    return text
  }

  const answer = async (bot: TestBot, person: Person, deep_link: string, button: string) =>
    await tap(person, await open(bot, person, { deep_link }), button)

  async function signIn(tenant: { live: Api; bot: TestBot }, person: Person) {
    const { login, question } = await ask(tenant, person)
    await tap(person, question, 'Approve')
    return { ...login, ...tokenOf(await login.status()) }
  }

  const rows = (table: string, rest = ''): Json[] =>
    app.db.client.query(`select * from passepartout_${table} ${rest}`).all()
  const rowsOf = ({ id }: { id: string }, table: string) => rows(table, `where tenant_id = '${id}'`)
  const attemptsOf = ({ id }: { id: string }) =>
    rows('attempts', `where tenant_id = '${id}' order by seq`)
  const botRow = ({ id }: TestBot): Json => rows('bots', `where platform_bot_id = '${id}'`)[0]

  const callsBy = ({ token }: { token: string }, method: string) =>
    botApi.callsOf(method).filter((call) => call.token === token)

  /** Signed no one in; with `code`, the app is told so. */
  async function expectNobody(login: Login, code?: string) {
    const { status, body } = await login.status()
    if (code === undefined) expect(body).toEqual({ status: 'pending' })
    else expect([status, body.error?.code]).toEqual([404, code])
    expect(rowsOf({ id: login.tenantId }, 'tokens')).toEqual([])
  }

  async function expectSignedIn(login: Login, { id }: Person) {
    expect((await login.status()).body).toMatchObject({
      status: 'completed',
      user: { platform: 'telegram', platform_user_id: `${id}` },
    })
    expect(rowsOf({ id: login.tenantId }, 'tokens')).toHaveLength(1)
  }

  /** Resolves once the bot has received and answered everything until now. */
  async function heard(bot: TestBot) {
    const witness = botApi.person({ first_name: 'Witness' })
    witness.say(bot, 'Anybody there?')
    await turnUntil(() => witness.chat(bot).length > 0)
    await app.passepartout.idle()
  }

  /** Lets time pass by the wall clock, and the last seconds for timers too. */
  async function pass(ms: number) {
    const last = Math.min(ms, 6 * SECOND)
    app.clock.jump(ms - last)
    await app.clock.advance(last)
  }

  /** Turns the clock in small steps until the condition holds. */
  async function turnUntil(holds: () => boolean, stepMs = 250) {
    for (let steps = 0; !holds(); steps++) {
      if (steps > 3000) throw new Error(`did not come true: ${holds}`)
      await app.clock.advance(stepMs)
      await Bun.sleep(Math.min(steps, 3))
    }
  }

  /** Resolves when such a wait has begun. With a jitter of one half, those of pollers differ. */
  function watchWaits() {
    const { after } = app.clock
    const begun: number[] = []
    app.clock.after = (ms, fn) => {
      begun.push(Math.round(ms))
      return after(ms, fn)
    }
    return async (ms: number) => {
      await until(
        () => begun.includes(ms),
        () => `a wait of ${ms} ms among ${begun}`,
        4000,
      )
      begun.length = 0
    }
  }

  async function metric(name: string): Promise<number | undefined> {
    const lines: string[] = (await app.raw('/metrics')).body.split('\n')
    const line = lines.find((each) => each.startsWith(`gatehouse_${name} `))
    return line === undefined ? undefined : Number(line.split(' ').at(-1))
  }

  const waitForHeld = (count: number) => until(async () => (await metric('logins_held')) === count)

  async function stop() {
    await app.stop()
    await botApi[Symbol.asyncDispose]()
  }

  return {
    ...{ app, clock: app.clock, bots, botApi, actor: ACTOR, raw, speak },
    ...{ newTenant, newTenantWithoutBots, choose, signInToSandbox, open, ask, tap, answer, signIn },
    ...{ rows, rowsOf, attemptsOf, botRow, callsBy, expectNobody, expectSignedIn, heard, pass },
    ...{ turnUntil, watchWaits, metric, waitForHeld, stop, [Symbol.asyncDispose]: stop },
  }
}

function bodyOf({ status, body }: Answer): Json {
  expect({ status, body }).toEqual({ status: 200, body: expect.anything() })
  return body
}

function tokenOf(answer: Answer) {
  const { access_token: token, user } = bodyOf(answer)
  return { token: token as string, user: user as Json }
}

export const wrongNumber = ({ buttons }: BotMessage, { match_code }: Login): string =>
  buttons[0]?.find((label) => label !== match_code) as string

export function expectRefused(answer: Answer, status: number, code: string, words = '') {
  const request_id = answer.headers.get('x-request-id')
  const message = expect.stringContaining(words)
  const body = { error: { code, message, request_id } }
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body })
  expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
}

export function tablesWith({ app }: Pick<Fixture, 'app'>, text: string): string[] {
  const { client } = app.db
  const namesOf = (sql: string) => (client.query(sql).all() as Json[]).map(({ name }) => name)
  // A virtual table keeps its data in tables of its own, and can't be scanned.
  const tables = `select name from sqlite_schema where type = 'table' and sql not like 'create virtual%'`
  return namesOf(tables).filter((table) => {
    const columns = namesOf(`pragma table_info("${table}")`)
    const any = columns.map((column) => `instr("${column}", ?1) > 0`).join(' or ')
    return client.query(`select 1 from "${table}" where ${any}`).get(text) !== null
  })
}
