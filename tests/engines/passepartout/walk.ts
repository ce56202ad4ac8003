import { expect } from 'bun:test'
import type { Answer, TestApp, TestAppOptions } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import type { BotMessage, Person, TestBot } from '../../support/bot-api/index.ts'
import type { bootFixture, Fixture } from './fixture.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const DAY = 24 * 60 * MINUTE

/** Attempts can be answered for so long. */
export const LIFETIME = 5 * MINUTE

export const START = '/v1/passepartout/login/start'
export const statusOf = (nonce: string, wait?: number) =>
  `/v1/passepartout/login/status?nonce=${nonce}${wait === undefined ? '' : `&wait=${wait}`}`

type Client = ReturnType<TestApp['client']>
export type Tenant = Awaited<ReturnType<Fixture['signingTenant']>>

export type Login = Awaited<ReturnType<typeof startLogin>>

/** Something that an app says of where a sign-in was started; the bot then asks for a number. */
export const CLIENT = { label: 'Shop', ip: '203.0.113.7' }

/** A sign-in, as the app that started it knows it, and what only the server knows. */
export async function startLogin({ app }: Pick<Fixture, 'app'>, client: Client, body?: unknown) {
  const answer = await client.post(START, body)
  expect(answer).toMatchObject({ status: 200 })
  const { nonce, deep_link, match_code } = answer.body
  const link: string = deep_link
  const [attempt] = rowsOf(app, 'attempts', 'order by seq desc limit 1')
  return {
    nonce: nonce as string,
    link,
    payload: new URL(link).searchParams.get('start') ?? link.split('/').at(-1) ?? '',
    code: match_code as string,
    attemptId: String(attempt?.id),
    tenantId: String(attempt?.tenant_id),
    /** How it stands, as the app is told. */
    status: (): Promise<Answer> => client.get(statusOf(nonce)),
  }
}

type Row = Record<string, string | number | null>

/** What the engine has on disk, as it is there. */
export const rowsOf = ({ db }: Pick<TestApp, 'db'>, table: string, rest = ''): Row[] =>
  db.client.query<Row, []>(`SELECT * FROM passepartout_${table} ${rest}`).all()

/** The same of one tenant alone, oldest first. */
const rowsOfTenant = (app: TestApp, table: string, { tenantId }: { tenantId: string }): Row[] =>
  rowsOf(app, table, `where tenant_id = '${tenantId}' order by seq`)

export const attemptsOf = ({ app }: Pick<Fixture, 'app'>, { id }: Tenant): Row[] =>
  rowsOfTenant(app, 'attempts', { tenantId: id })

/** What a bot, and no other, called. */
export const callsBy = ({ botApi }: Pick<Fixture, 'botApi'>, { token }: TestBot, method: string) =>
  botApi.callsOf(method).filter((call) => call.token === token)

export const botRow = ({ app }: Pick<Fixture, 'app'>, { id }: TestBot): Row =>
  rowsOf(app, 'bots', `where platform_bot_id = '${id}'`)[0] ?? {}

export const pressedStart = async (person: Person, bot: TestBot, { link }: Login) => {
  const before = person.chat(bot).length
  person.follow(link)
  return await person.waitForMessage(bot, () => person.chat(bot).length > before)
}

/** A button that does not bear the right number. */
export const wrongNumber = ({ buttons }: BotMessage, { code }: Login): string => {
  const wrong = buttons[0]?.find((label) => label !== code)
  if (wrong === undefined) throw new Error('there is no wrong number')
  return wrong
}

/** Resolves when all that people did until now has been taken in, and what came of it was said. */
export async function heard({ app, botApi }: Pick<Fixture, 'app' | 'botApi'>, bot: TestBot) {
  const witness = botApi.person({ first_name: 'Witness' })
  witness.say(bot, 'Anybody there?')
  // After what it knew already, a poller rests for a second.
  await turnUntil({ app }, () => witness.chat(bot).length > 0)
  await app.passepartout.idle()
}

/** Lets time pass by the wall clock; the last seconds as they do, in which loops come to look. */
export async function pass({ app }: Pick<Fixture, 'app'>, ms: number) {
  const last = Math.min(ms, 6 * SECOND)
  app.clock.jump(ms - last)
  await app.clock.advance(last)
}

/** Turns the clock in small steps until a condition of the real world is true. */
export async function turnUntil(
  { app }: Pick<Fixture, 'app'>,
  holds: () => boolean | Promise<boolean>,
  describe?: () => string,
  stepMs = 250,
) {
  await until(
    async () => {
      if (await holds()) return true
      await app.clock.advance(stepMs)
      return false
    },
    describe,
    5_000,
  )
}

/** Nobody was signed in, whatever anybody did. */
export async function expectNobody({ app }: Pick<Fixture, 'app'>, login: Login, code?: string) {
  const { status, body } = await login.status()
  if (code === undefined) expect(body).toEqual({ status: 'pending' })
  else expect([status, body.error?.code]).toEqual([404, code])
  expect(rowsOfTenant(app, 'tokens', login)).toEqual([])
  for (const attempt of rowsOfTenant(app, 'attempts', login))
    expect(attempt).toMatchObject({ access_token: null, person_id: null })
}

/** Exactly one was signed in, and the app gets to know. */
export async function expectSignedIn({ app }: Pick<Fixture, 'app'>, login: Login, person: Person) {
  const { body } = await login.status()
  expect(body).toMatchObject({
    status: 'completed',
    user: { platform: 'telegram', platform_user_id: `${person.id}` },
  })
  expect(rowsOfTenant(app, 'tokens', login)).toHaveLength(1)
}

/** Signs a person in who is asked for no number. */
export async function signIn(fixture: Fixture, { live, bot }: Tenant, person: Person) {
  const login = await startLogin(fixture, live)
  const prompt = await pressedStart(person, bot, login)
  await fixture.botApi.waitForAnswer(person.tap(prompt, 1))
  return login
}

/**
 * Tells when somebody begins to wait for so many milliseconds: to turn the clock before would be
 * too soon. Chance is half in tests that look at waits, so that those of a poller are its alone.
 */
export function watchWaits({ clock }: TestApp) {
  const { after } = clock
  const begun: number[] = []
  clock.after = (ms, fn) => {
    begun.push(Math.round(ms))
    return after(ms, fn)
  }
  return async (ms: number, count = 1) => {
    await until(
      () => begun.filter((one) => one === ms).length >= count,
      () => `a wait of ${ms} ms among ${begun.slice(-9)}`,
      4_000,
    )
    begun.length = 0
  }
}

interface WireReply {
  status?: number
  body?: BodyInit
}

/** Stands before a Bot API server: answers what a test wants to itself, and passes on the rest. */
export function startProxy(
  target: () => string,
  reply: (
    method: string,
    request: Request,
  ) => WireReply | undefined | Promise<WireReply | undefined>,
) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      const own = await reply(pathname.split('/').at(-1) ?? '', request)
      if (own) return new Response(own.body ?? '', { status: own.status ?? 200 })
      return await fetch(target() + pathname, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: await request.text(),
        signal: request.signal,
      }).catch(() => new Response('', { status: 502 }))
    },
  })
  return { url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) }
}

/** A fixture whose bots meet a proxy before they meet their server. */
export async function bootBehindProxy(
  boot: typeof bootFixture,
  reply: Parameters<typeof startProxy>[1],
  options: TestAppOptions = {},
) {
  let target = ''
  const proxy = startProxy(() => target, reply)
  const flags = { 'passepartout-telegram-api-root': proxy.url }
  const fixture = await boot({ ...options, flags })
  target = fixture.botApi.url
  return {
    ...fixture,
    [Symbol.asyncDispose]: async () => {
      await fixture.stop()
      await proxy[Symbol.asyncDispose]()
    },
  }
}
