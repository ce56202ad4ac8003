import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openDatabase } from '../../../src/db/open.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createBodies } from '../../../src/platform/mail/body.ts'
import { createSealing } from '../../../src/platform/sealing/index.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { AUTH, csrfOf, PASSWORD, pathOf } from '../../engines/gate/sign-in/flows/fixture.ts'
import { type Server, until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { IDENTITIES, numbers } from '../resilience/support/api.ts'
import { type Answered, isBroken, type Json } from '../resilience/support/client.ts'
import { openInstallation } from '../resilience/support/installation.ts'

/** Cheap password hashes, and no limits on attempts from one address. */
const settings = {
  // Nothing listens there, so mails wait in the outbox.
  GATEHOUSE_MAIL_SMTP_URL: 'smtp://127.0.0.1:9',
  GATEHOUSE_MAIL_FROM: 'gate@example.org',
  GATEHOUSE_GATE_PASSWORD_MEMORY: '8MB',
  GATEHOUSE_GATE_PASSWORD_ITERATIONS: '1',
  GATEHOUSE_LIMITS_SIGN_INS_PER_MINUTE: '1000000',
  GATEHOUSE_LIMITS_SIGN_INS_PER_IDENTIFIER_PER_MINUTE: '1000000',
}

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())
const { count, dataDir, newClient, newTenant, rows, running } = openInstallation(stack, {
  settings,
})
const gate = newClient(newTenant(), 'gate')
let mails: ReturnType<typeof createBodies>
beforeAll(async () => {
  const [server] = (await running(1)) as [Server]
  await gate.make(server, 'PUT', '/v1/gate/settings/security', { passwordless_enabled: true })
  const db = openDatabase({ dataDir, synchronous: 'full' })
  mails = createBodies(createSealing(await openKeyRing({ db, clock: systemClock, dataDir })))
  db.close()
}, 120_000)

/** The codes in the mails to an address, which are never sent. */
const codesTo = (address: string): string[] =>
  rows<{ id: string; body: string }>(
    `SELECT id, body FROM mails WHERE recipient = '${address}' AND body IS NOT NULL ORDER BY seq`,
  ).flatMap(({ id, body }) => /^ {4}(\d{6})$/m.exec(mails.open(id, body).text)?.[1] ?? [])

const tokenHeader = (token?: string): Record<string, string> =>
  token === undefined ? {} : { 'x-session-token': token }

/** Starts or reads a flow. */
async function read(server: Server, path: string, token?: string): Promise<Json> {
  return await well(gate.ask(server, 'GET', path, undefined, tokenHeader(token)))
}
const start = (server: Server, kind: string, token?: string): Promise<Json> =>
  read(server, `${AUTH}/${kind}`, token)

/** Sends a form to its action, at any of the processes. */
function send(server: Server, flow: Json, fields: Json, token?: string): Promise<Answered> {
  const body = { csrf_token: csrfOf(flow), ...fields }
  return gate.ask(server, 'POST', pathOf(flow.ui.action), body, tokenHeader(token))
}

const tryPassword = async (server: Server, identifier: string, password: string) =>
  send(server, await start(server, 'login'), { method: 'password', identifier, password })

/** Creates an identity, without a mail. */
const create = (server: Server, email: string, fields: Json = {}): Promise<Json> =>
  gate.make(server, 'POST', IDENTITIES, { schema_id: 'user', traits: { email }, ...fields })

const whoami = async (server: Server, token: string): Promise<number> =>
  (await gate.ask(server, 'GET', '/v1/gate/sessions/whoami', undefined, tokenHeader(token))).status

/** The ids of a flow's errors, each once. */
function errorsIn({ body }: Answered): number[] {
  const beside = (body.ui?.nodes ?? []).flatMap(({ messages }: Json) => messages)
  const errors = [...(body.ui?.messages ?? []), ...beside].filter(({ type }) => type === 'error')
  return [...new Set<number>(errors.map(({ id }) => id))]
}

/** The body of an answer that has to be a success. */
async function well(asked: Promise<Answered>): Promise<Json> {
  const answer = await asked
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

/** Where a sign-up leads for the code that it has sent. */
const verificationIn = (continueWith: Json[]): string =>
  continueWith.find(({ action }) => action === 'show_verification_ui').flow.url

interface Person {
  email: string
  /** Passwords that were sent, oldest first; whether the last one was accepted may be in doubt. */
  passwords: string[]
  isInDoubt: boolean
  token: string | undefined
  /** Tokens of sign-ins elsewhere, by the number of the password. */
  elsewhere: [string, number][]
  /** The flow and form of the code that was accepted. */
  used: [Json, Json] | undefined
}

/** Signs up, verifies the address and changes the password again and again, until the server is gone. */
async function live(server: Server, person: Person) {
  const { email, passwords } = person
  async function set(flow: Json, form: Json, token?: string): Promise<Json> {
    passwords.push(`correct horse ${passwords.length} battery`)
    person.isInDoubt = true
    const body = await well(send(server, flow, { ...form, password: passwords.at(-1) }, token))
    person.isInDoubt = false
    return body
  }
  try {
    const form = { method: 'password', traits: { email } }
    const registration = await start(server, 'registration')
    const { session_token, continue_with } = await set(registration, form)
    person.token = session_token
    const code = { method: 'code', code: codesTo(email)[0] }
    const verification = await read(server, pathOf(verificationIn(continue_with)))
    await well(send(server, verification, code))
    person.used = [verification, code]
    for (;;) {
      const number = passwords.length - 1
      const signedIn = await tryPassword(server, email, passwords[number] ?? '')
      person.elsewhere.push([signedIn.body.session_token, number])
      const settings = await start(server, 'settings', person.token)
      await set(settings, { method: 'password' }, person.token)
    }
  } catch (error) {
    if (!isBroken(error)) throw error
  }
}

test('A kill -9 amid sign-ups, sign-ins and new passwords loses nothing acknowledged and leaves no change incomplete', async () => {
  const target = stack.use(startTarget())
  let [server] = (await running(1)) as [Server]
  await gate.make(server, 'POST', '/v1/gate/settings/webhooks', { url: target.url })
  const everybody: Person[] = []
  const accepted = async ({ email }: Person, password: string) =>
    (await tryPassword(server, email, password)).status === 200

  for (const round of numbers(2)) {
    const recovery = await start(server, 'recovery')
    const lost = `lost-${round}@example.com`
    await create(server, lost)
    await well(send(server, recovery, { method: 'code', email: lost }))
    const people: Person[] = numbers(8).map((n) => ({
      ...{ email: `person-${round}-${n}@example.com`, passwords: [], isInDoubt: false },
      ...{ token: undefined, elsewhere: [], used: undefined },
    }))
    const lives = Promise.all(people.map((person) => live(server, person)))
    everybody.push(...people)
    await until(() => people.some(({ passwords }) => passwords.length > 3), server.out)
    await server.kill()
    await lives
    server = (await running(1))[0] as Server

    const form = { method: 'code', code: codesTo(lost)[0] }
    expect((await well(send(server, recovery, form))).state).toBe('passed_challenge')
    for (const person of people) {
      const { elsewhere, passwords, isInDoubt, token, used } = person
      if (token !== undefined) expect(await whoami(server, token)).toBe(200)
      if (used) expect((await send(server, ...used)).status).toBe(422)
      const valid: number[] = []
      for (const [number, password] of [...passwords.entries()].slice(-3))
        if (await accepted(person, password)) valid.push(number)
      // An acknowledged password is the only valid one; one in doubt is, or the one before it.
      const last = passwords.length - 1
      expect(isInDoubt ? [[last], [last - 1].filter((n) => n >= 0)] : [[last]]).toContainEqual(
        valid,
      )
      for (const [token, number] of elsewhere)
        expect(await whoami(server, token)).toBe(number === valid[0] ? 200 : 401)
    }
  }
  expect(everybody.filter(({ isInDoubt }) => isInDoubt).length).toBeGreaterThan(0)

  const people = await gate.walk(server, IDENTITIES)
  await until(() => count("deliveries WHERE state <> 'succeeded'") === 0, server.out)
  const told = target.requests.flatMap(({ body }) => {
    const { event_id, event_type, data } = JSON.parse(body)
    return event_type === 'identity.created' ? `${data.identity_id} ${event_id}` : []
  })
  const ids = [...new Set(told)].map((one) => one.split(' ')[0])
  expect(ids.toSorted()).toEqual(people.map(({ id }) => id).toSorted())
}, 300_000)

test('A flow of one process is completed at the other and over at both; a new password and the end of a user count at both at once', async () => {
  const [here, there] = (await running(2)) as [Server, Server]
  const email = 'ada@example.com'
  const fields = { method: 'password', traits: { email }, password: PASSWORD }
  const registered = await well(send(there, await start(here, 'registration'), fields))
  const { session_token: token, identity, continue_with } = registered
  const login = await start(there, 'login')
  const form = { method: 'password', identifier: email, password: PASSWORD }
  await well(send(here, login, form))
  for (const server of [there, here])
    expect(errorsIn(await send(server, login, form))).toEqual([4010007])
  const verification = await read(there, pathOf(verificationIn(continue_with)))
  const code = { method: 'code', code: codesTo(email)[0] }
  expect((await well(send(here, verification, code))).state).toBe('passed_challenge')

  const elsewhere = (await tryPassword(there, email, PASSWORD)).body.session_token
  expect(await whoami(there, elsewhere)).toBe(200)
  const next = `${PASSWORD} staple`
  const change = await start(here, 'settings', token)
  await well(send(here, change, { method: 'password', password: next }, token))
  expect([await whoami(there, elsewhere), await whoami(there, token)]).toEqual([401, 200])
  expect(errorsIn(await tryPassword(there, email, PASSWORD))).toEqual([4000006])
  expect((await tryPassword(there, email, next)).status).toBe(200)

  const path = `${IDENTITIES}/${identity.id}`
  const mint = (server: Server) =>
    gate.ask(server, 'POST', '/v1/gate/tokens', { api_key: gate.key, subject: identity.id })
  const { access_token } = (await mint(here)).body
  const isActive = async (server: Server) =>
    (await gate.make(server, 'POST', '/v1/gate/tokens/introspect', { access_token })).active
  expect([await isActive(here), await isActive(there)]).toEqual([true, true])
  await gate.make(here, 'PATCH', `${path}/state`, { state: 'inactive' })
  expect([await isActive(there), await whoami(there, token)]).toEqual([false, 401])
  expect((await mint(there)).status).toBe(403)
  await gate.make(there, 'PATCH', `${path}/state`, { state: 'active' })
  expect([await isActive(here), await whoami(here, token)]).toEqual([false, 401])
  expect((await mint(here)).status).toBe(200)
  await gate.make(here, 'DELETE', path)
  expect((await gate.ask(there, 'GET', path)).status).toBe(404)
}, 300_000)

test('A code that is sent to both processes at once signs in once; wrong ones share five tries', async () => {
  const [here, there] = (await running(2)) as [Server, Server]
  const inTurn = (count: number) => numbers(count).map((n) => (n % 2 === 0 ? here : there))
  const grace = 'grace@example.com'
  // Whose codes outlive a sign-in by another one, unlike those of a person never proven.
  await create(here, grace, { verifiable_addresses: [{ value: grace, verified: true }] })
  const flow = await start(here, 'login')
  await well(send(there, flow, { method: 'code', identifier: grace }))
  const form = { method: 'code', code: codesTo(grace)[0] }
  const answers = await Promise.all(inTurn(6).map((server) => send(server, flow, form)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(5).fill(422)])
  const { body } = answers.find(({ status }) => status === 200) ?? expect.unreachable()
  for (const server of [here, there]) expect(await whoami(server, body.session_token)).toBe(200)

  const joan = 'joan@example.com'
  await create(here, joan)
  const guessed = await start(here, 'login')
  await send(here, guessed, { method: 'code', identifier: joan })
  const [code] = codesTo(joan)
  const wrong = { method: 'code', code: code === '000000' ? '111111' : '000000' }
  const tries = await Promise.all(inTurn(12).map((server) => send(server, guessed, wrong)))
  const counted = [...Array(5).fill(4010008), ...Array(7).fill(4900001)]
  expect(tries.flatMap(errorsIn).toSorted()).toEqual(counted)
  for (const server of [here, there])
    expect(errorsIn(await send(server, guessed, { method: 'code', code }))).toEqual([4900001])
}, 300_000)
