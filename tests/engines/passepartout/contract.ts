import { expect } from 'bun:test'
import type { Answer, TestAppOptions } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import type { Person, TestBot } from '../../support/bot-api/index.ts'
import { expectDescribed } from '../relay/support.ts'
import { bootFixture } from './fixture.ts'

export const START = '/v1/passepartout/login/start'
export const STATUS = '/v1/passepartout/login/status'
export const INTROSPECT = '/v1/passepartout/tokens/introspect'
export const REVOKE = '/v1/passepartout/tokens/revoke'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** How long a nonce is good, unless a setting says otherwise. */
export const LIFETIME = 5 * MINUTE
/** How long at least a token can be collected. */
export const COLLECT = MINUTE

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export const statusOf = (nonce: string, wait?: number) =>
  `${STATUS}?nonce=${encodeURIComponent(nonce)}${wait === undefined ? '' : `&wait=${wait}`}`

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
export type Json = any

export type Contract = Awaited<ReturnType<typeof bootContract>>
export type Party = Awaited<ReturnType<Contract['party']>>

/** An application whose every answer about sign-ins has to be one that its document describes. */
export async function bootContract(options: TestAppOptions = {}) {
  const fixture = await bootFixture(options)
  const { app, botApi } = fixture
  const document: Json = (await app.raw('/openapi.json')).body

  async function raw(path: string, init: RequestInit = {}): Promise<Answer> {
    const answer = await app.raw(path, init)
    expectDescribed(document, (init.method ?? 'GET').toLowerCase(), path, answer)
    expect(answer.headers.get('x-request-id')).toMatch(/^\S+$/)
    if (answer.status >= 400) expectEnvelope(answer)
    return answer
  }

  /** Speaks JSON with a key. */
  function speak(key: string) {
    const authorization = `Bearer ${key}`
    const post = (path: string, body?: unknown) =>
      body === undefined
        ? raw(path, { method: 'POST', headers: { authorization } })
        : postText(path, JSON.stringify(body))
    /** Posts a body as it is spelled. */
    const postText = (path: string, body: string, type: string | null = 'application/json') =>
      raw(path, {
        method: 'POST',
        headers: { authorization, ...(type !== null && { 'content-type': type }) },
        body,
      })
    const get = (path: string, signal?: AbortSignal) =>
      raw(path, { headers: { authorization }, ...(signal && { signal }) })
    const introspect = async (token: unknown): Promise<Json> =>
      bodyOf(await post(INTROSPECT, { access_token: token }), 200)
    return {
      get,
      delete: (path: string) => raw(path, { method: 'DELETE', headers: { authorization } }),
      post,
      postText,
      introspect,
      start: async (client?: Json): Promise<Json> =>
        bodyOf(await post(START, client && { client }), 200),
      status: (nonce: string, wait?: number) => get(statusOf(nonce, wait)),
      revoke: (token: unknown) => post(REVOKE, { access_token: token }),
    }
  }

  type Speaker = ReturnType<typeof speak>

  async function keysFor(key: Awaited<ReturnType<typeof app.tenant>>['key']) {
    const { id: liveKeyId, key: liveKey } = await key('passepartout', 'live')
    const { id: testKeyId, key: testKey } = await key('passepartout', 'test')
    const [live, test] = [speak(liveKey), speak(testKey)]
    return { liveKeyId, liveKey, testKeyId, testKey, live, test }
  }

  /** A tenant with both bots in use. */
  async function party(name = 'Acme') {
    const tenant = await fixture.signingTenant(name)
    return { ...tenant, ...(await keysFor(tenant.key)) }
  }

  /** A tenant without any bot. */
  async function bareParty(name = 'Bare') {
    const tenant = await app.tenant(name)
    return { id: tenant.id, key: tenant.key, ...(await keysFor(tenant.key)) }
  }

  /** What somebody taps on the page of the test bot. */
  function chooseInSandbox(deepLink: string, choice: string, person = 'ada'): Promise<Answer> {
    const body = new URLSearchParams({ choice, person })
    return app.raw(new URL(deepLink).pathname, { method: 'POST', body })
  }

  /** A whole sign-in in the sandbox. */
  async function signInToSandbox({ test }: { test: Speaker }, person = 'ada') {
    const { nonce, deep_link } = await test.start()
    expect(await chooseInSandbox(deep_link, 'approve', person)).toMatchObject({ status: 303 })
    const { access_token: token, user } = bodyOf(await test.status(nonce), 200)
    return { nonce: nonce as string, token: token as string, user: user as Json }
  }

  /** Follows the link and resolves with the question of the bot. */
  function open(bot: TestBot, person: Person, deepLink: string) {
    const known = new Set(person.chat(bot).map(({ message_id }) => message_id))
    person.follow(deepLink)
    return person.waitForMessage(
      bot,
      ({ message_id, buttons }) => !known.has(message_id) && buttons.length > 0,
    )
  }

  /** Follows the link and taps; resolves once that has come to something. */
  async function answer(bot: TestBot, person: Person, deepLink: string, label: string) {
    const question = await open(bot, person, deepLink)
    await botApi.waitForAnswer(person.tap(question, label))
  }

  /** A whole sign-in through Telegram. */
  async function signIn({ live, bot }: { live: Speaker; bot: TestBot }, person: Person) {
    const { nonce, deep_link } = await live.start()
    await answer(bot, person, deep_link, 'Approve')
    const { access_token: token, user } = bodyOf(await live.status(nonce), 200)
    return { nonce: nonce as string, token: token as string, user: user as Json }
  }

  /** A metric by its whole name, labels included; undefined where it is not shown. */
  async function metric(name: string): Promise<number | undefined> {
    const lines: string[] = (await app.raw('/metrics')).body.split('\n')
    const line = lines.find((each) => each.startsWith(`gatehouse_${name} `))
    return line === undefined ? undefined : Number(line.split(' ').at(-1))
  }

  /** Resolves once so many questions for a status are held. */
  const waitForHeld = (count: number) => until(async () => (await metric('logins_held')) === count)

  return {
    ...fixture,
    clock: app.clock,
    document,
    raw,
    speak,
    party,
    bareParty,
    chooseInSandbox,
    signInToSandbox,
    open,
    answer,
    signIn,
    metric,
    waitForHeld,
  }
}

function bodyOf({ status, body }: Answer, expected: number): Json {
  expect({ status, body }).toEqual({ status: expected, body: expect.anything() })
  return body
}

/** A refusal has a code, a sentence, and the id that its header has. */
function expectEnvelope({ body, headers }: Answer) {
  expect(headers.get('content-type')).toStartWith('application/json')
  expect(body).toEqual({
    error: {
      code: expect.stringMatching(/^[a-z_]+$/),
      message: expect.stringMatching(/\S/),
      request_id: headers.get('x-request-id'),
    },
  })
}

/** That it was refused so, and in words that have these among them. */
export function expectRefused(answer: Answer, status: number, code: string, words = '') {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status,
    body: {
      error: {
        code,
        message: expect.stringContaining(words),
        request_id: answer.headers.get('x-request-id'),
      },
    },
  })
  expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
}

/** The tables that have a text somewhere: for what must not be in any. */
export function tablesWith({ app }: Pick<Contract, 'app'>, text: string): string[] {
  const { client } = app.db
  const tables = client
    .query<{ name: string }, []>(`select name from sqlite_schema where type = 'table'`)
    .all()
  return tables
    .map(({ name }) => name)
    .filter((name) => {
      const columns = client.query<{ name: string }, []>(`pragma table_info("${name}")`).all()
      const any = columns.map((column) => `instr("${column.name}", ?1) > 0`).join(' or ')
      return client.query(`select 1 from "${name}" where ${any}`).get(text) !== null
    })
}
