import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../../src/platform/clock.ts'
import { node, PASSWORD, totpAt } from '../../engines/gate/sign-in/flows/fixture.ts'
import { type Server, until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { IDENTITIES, numbers } from '../resilience/support/api.ts'
import type { Json } from '../resilience/support/client.ts'
import { errorsIn, type Flows, openFlows } from './flows.ts'
import { isBroken } from './receiver.ts'

const stack = new AsyncDisposableStack()
let flows: Flows
beforeAll(async () => {
  flows = await openFlows(stack)
}, 300_000)
afterAll(() => stack.disposeAsync())

/** The body of an answer that has to be a success. */
async function well(asked: ReturnType<Flows['send']>): Promise<Json> {
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
    const body = await well(
      flows.send(server, flow, { ...form, password: passwords.at(-1) }, token),
    )
    person.isInDoubt = false
    return body
  }
  try {
    const form = { method: 'password', traits: { email } }
    const registration = await flows.start(server, 'registration')
    const { session_token, continue_with } = await set(registration, form)
    person.token = session_token
    const code = { method: 'code', code: flows.codesTo(email)[0] }
    const verification = await flows.follow(server, verificationIn(continue_with))
    await well(flows.send(server, verification, code))
    person.used = [verification, code]
    for (;;) {
      const number = passwords.length - 1
      const signedIn = await flows.tryPassword(server, email, passwords[number] ?? '')
      person.elsewhere.push([signedIn.body.session_token, number])
      const settings = await flows.start(server, 'settings', person.token)
      await set(settings, { method: 'password' }, person.token)
    }
  } catch (error) {
    if (!isBroken(error)) throw error
  }
}

test('A kill -9 amid sign-ups, sign-ins and new passwords loses nothing acknowledged and does nothing by half', async () => {
  const target = stack.use(startTarget())
  let [server] = (await flows.running(1)) as [Server]
  await flows.gate.make(server, 'POST', '/v1/gate/settings/webhooks', { url: target.url })
  const everybody: Person[] = []
  const accepted = async ({ email }: Person, password: string) =>
    (await flows.tryPassword(server, email, password)).status === 200

  for (const round of numbers(2)) {
    const recovery = await flows.start(server, 'recovery')
    const lost = `lost-${round}@example.com`
    await flows.create(server, lost)
    await well(flows.send(server, recovery, { method: 'code', email: lost }))
    const people: Person[] = numbers(8).map((n) => ({
      ...{ email: `person-${round}-${n}@example.com`, passwords: [], isInDoubt: false },
      ...{ token: undefined, elsewhere: [], used: undefined },
    }))
    const lives = Promise.all(people.map((person) => live(server, person)))
    everybody.push(...people)
    await until(() => people.some(({ passwords }) => passwords.length > 3), server.out)
    await server.kill()
    await lives
    server = (await flows.running(1))[0] as Server

    const form = { method: 'code', code: flows.codesTo(lost)[0] }
    expect((await well(flows.send(server, recovery, form))).state).toBe('passed_challenge')
    for (const person of people) {
      const { elsewhere, passwords, isInDoubt, token, used } = person
      if (token !== undefined) expect(await flows.whoami(server, token)).toBe(200)
      if (used) expect((await flows.send(server, ...used)).status).toBe(422)
      const valid: number[] = []
      for (const [number, password] of [...passwords.entries()].slice(-3))
        if (await accepted(person, password)) valid.push(number)
      // An acknowledged password is the only valid one; one in doubt is, or the one before it.
      const last = passwords.length - 1
      expect(isInDoubt ? [[last], [last - 1].filter((n) => n >= 0)] : [[last]]).toContainEqual(
        valid,
      )
      for (const [token, number] of elsewhere)
        expect(await flows.whoami(server, token)).toBe(number === valid[0] ? 200 : 401)
    }
  }
  expect(everybody.filter(({ isInDoubt }) => isInDoubt).length).toBeGreaterThan(0)

  const people = await flows.gate.walk(server, IDENTITIES)
  await until(() => flows.count("deliveries WHERE state <> 'succeeded'") === 0, server.out)
  const told = target.requests.flatMap(({ body }) => {
    const { event_id, event_type, data } = JSON.parse(body)
    return event_type === 'identity.created' ? `${data.identity_id} ${event_id}` : []
  })
  const ids = [...new Set(told)].map((one) => one.split(' ')[0])
  expect(ids.toSorted()).toEqual(people.map(({ id }) => id).toSorted())
}, 300_000)

/** Signed up at one process, by a flow of the other: the answer to that. */
async function register([here, there]: readonly Server[], email: string): Promise<Json> {
  const flow = await flows.start(here as Server, 'registration')
  const form = { method: 'password', traits: { email }, password: PASSWORD }
  return await well(flows.send(there as Server, flow, form))
}

test('A flow of one process is completed at the other and over at both; a new password and the end of a user count at both at once', async () => {
  const { codesTo, follow, gate, send, start, tryPassword, whoami } = flows
  const [here, there] = (await flows.running(2)) as [Server, Server]
  const email = 'ada@example.com'
  const { session_token: token, identity, continue_with } = await register([here, there], email)
  expect(await whoami(here, token)).toBe(200)
  const login = await start(there, 'login')
  const form = { method: 'password', identifier: email, password: PASSWORD }
  await well(send(here, login, form))
  for (const server of [there, here])
    expect(errorsIn(await send(server, login, form))).toEqual([4010007])
  const verification = await follow(there, verificationIn(continue_with))
  const code = { method: 'code', code: codesTo(email)[0] }
  expect((await well(send(there, verification, code))).state).toBe('passed_challenge')
  for (const server of [here, there])
    expect(errorsIn(await send(server, verification, code))).toEqual([4070002])

  let password = PASSWORD
  for (const [one, other] of [
    [here, there],
    [there, here],
  ] as const) {
    const elsewhere = (await tryPassword(other, email, password)).body.session_token
    expect(await whoami(other, elsewhere)).toBe(200)
    const next = `${password} staple`
    const settings = await start(one, 'settings', token)
    const changed = await well(send(one, settings, { method: 'password', password: next }, token))
    expect(changed.state).toBe('success')
    expect(await whoami(other, elsewhere)).toBe(401)
    expect(errorsIn(await tryPassword(other, email, password))).toEqual([4000006])
    expect((await tryPassword(other, email, next)).status).toBe(200)
    expect(await whoami(other, token)).toBe(200)
    password = next
  }

  const path = `${IDENTITIES}/${identity.id}`
  const mint = (server: Server) =>
    gate.ask(server, 'POST', '/v1/gate/tokens', { api_key: gate.key, subject: identity.id })
  const { access_token } = (await mint(here)).body
  const isActive = async (server: Server) => {
    const body = { access_token }
    return (await gate.make(server, 'POST', '/v1/gate/tokens/introspect', body)).active
  }
  const setState = (server: Server, state: string) =>
    gate.make(server, 'PATCH', `${path}/state`, { state })
  for (const server of [here, there]) expect(await isActive(server)).toBe(true)
  await setState(here, 'inactive')
  expect([await isActive(there), await whoami(there, token)]).toEqual([false, 401])
  expect((await mint(there)).status).toBe(403)
  await setState(there, 'active')
  expect(await gate.make(here, 'GET', path)).toMatchObject({ state: 'active' })
  expect([await isActive(here), await whoami(here, token)]).toEqual([false, 401])
  expect((await mint(here)).status).toBe(200)
  await gate.make(here, 'DELETE', path)
  expect((await gate.ask(there, 'GET', path)).status).toBe(404)
}, 300_000)

test('A code or a code of an authenticator that is sent to both processes at once signs in once; wrong ones share five tries', async () => {
  const { codesTo, create, follow, send, start, tryPassword, whoami } = flows
  const [here, there] = (await flows.running(2)) as [Server, Server]
  const inTurn = (count: number) => numbers(count).map((n) => (n % 2 === 0 ? here : there))
  for (const n of numbers(3)) {
    const email = `grace-${n}@example.com`
    // Whose codes outlive a sign-in by another one, unlike those of a person never proven.
    await create(here, email, { verifiable_addresses: [{ value: email, verified: true }] })
    const flow = await start(here, 'login')
    await well(send(there, flow, { method: 'code', identifier: email }))
    const form = { method: 'code', code: codesTo(email)[0] }
    const answers = await Promise.all(inTurn(6).map((server) => send(server, flow, form)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(5).fill(422)])
    const { body } = answers.find(({ status }) => status === 200) ?? expect.unreachable()
    for (const server of [here, there]) expect(await whoami(server, body.session_token)).toBe(200)
  }

  const joan = 'joan@example.com'
  await create(here, joan)
  const flow = await start(here, 'login')
  await send(here, flow, { method: 'code', identifier: joan })
  const [code] = codesTo(joan)
  const wrong = { method: 'code', code: code === '000000' ? '111111' : '000000' }
  const tries = await Promise.all(inTurn(12).map((server) => send(server, flow, wrong)))
  expect(tries.flatMap(errorsIn).toSorted()).toEqual([
    ...Array(5).fill(4010008),
    ...Array(7).fill(4900001),
  ])
  for (const server of [here, there])
    expect(errorsIn(await send(server, flow, { method: 'code', code }))).toEqual([4900001])

  const mary = 'mary@example.com'
  const { session_token } = await register([here, there], mary)
  const settings = await start(here, 'settings', session_token)
  const secret = node(settings, 'totp_secret_key').attributes.text.context.secret
  const now = systemClock.now()
  const enrolment = { method: 'totp', totp_code: totpAt(secret, now) }
  await well(send(there, settings, enrolment, session_token))
  // Of the next step: a clock may be so far ahead, and it is later than the one that is used up.
  const form = { method: 'totp', totp_code: totpAt(secret, now + 30_000) }
  const halfway = []
  for (const server of [here, there]) {
    const { body } = await tryPassword(server, mary, PASSWORD)
    const { redirect_browser_to: url } = body.continue_with.at(-1)
    const token: string = body.session_token
    halfway.push({ server, token, flow: await follow(here, url, token) })
  }
  const answers = await Promise.all(
    halfway.map(({ server, token, flow }) => send(server, flow, form, token)),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
  for (const [n, { token, flow }] of halfway.entries())
    for (const server of [here, there]) {
      const isIn = answers[n]?.status === 200
      expect(await whoami(server, token)).toBe(isIn ? 200 : 403)
      if (!isIn) expect(errorsIn(await send(server, flow, form, token))).toEqual([4000008])
    }
}, 300_000)
