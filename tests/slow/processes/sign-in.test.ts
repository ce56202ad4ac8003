import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../../src/platform/clock.ts'
import { node, PASSWORD, totpAt } from '../../engines/gate/sign-in/flows/fixture.ts'
import { type Server, until } from '../../support/binary.ts'
import { type ReceivedRequest, startTarget } from '../../support/target.ts'
import { IDENTITIES, numbers } from '../resilience/support/api.ts'
import type { Json } from '../resilience/support/client.ts'
import { errorsIn, type Flows, openFlows } from './flows.ts'
import { newPerson, nextPassword, OVER, type Person, step } from './lives.ts'
import { isBroken } from './receiver.ts'

const stack = new AsyncDisposableStack()
let flows: Flows
beforeAll(async () => {
  flows = await openFlows(stack)
}, 300_000)
afterAll(() => stack.disposeAsync())

const KILLS = 2
const CLIENTS = 8
/** The steps of all people together before the process is killed. */
const STEPS = 30
/** People with at least one step left. */
const UNFINISHED = 30

/** Works on all items, `CLIENTS` at a time. */
async function each<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>) {
  const rest = [...items].values()
  async function some() {
    for (const item of rest) await work(item)
  }
  await Promise.all(numbers(CLIENTS).map(some))
}

/** Runs the steps of people until the crowd ends or the server is gone. */
function startCrowd(server: Server, people: Person[]) {
  const touched = new Set<Person>()
  let isOver = false
  let steps = 0
  let cutOff = 0

  async function live(person: Person) {
    touched.add(person)
    try {
      while (person.next !== undefined && !isOver) {
        await step(flows, server, person)
        steps++
      }
    } catch (error) {
      if (!isBroken(error)) throw error
      isOver = true
      cutOff++
    }
  }

  const done = each(people, async (person) => {
    if (!isOver) await live(person)
  })
  return { touched, done, steps: () => steps, cutOff: () => cutOff }
}

/** Expects what was acknowledged; a request without response is done whole or not at all. */
async function expectKept(server: Server, person: Person) {
  const { email, password, tokens, actor } = person
  for (const token of person.endedTokens) expect(await flows.whoami(server, token)).toBe(401)
  for (const former of person.formerPasswords)
    expect(errorsIn(await flows.tryPassword(server, email, former))).toEqual([4000006])
  for (const { flow, form } of person.usedCodes) {
    const again = await flows.send(server, flow, form)
    expect([again.status, OVER.includes(errorsIn(again)[0] as number)]).toEqual([422, true])
  }
  if (actor !== undefined) expect(await flows.whoami(server, actor)).toBe(200)
  const isInDoubt = person.next === 'changePassword' && person.sent !== undefined
  const isChanged = isInDoubt && (await isAccepted(server, person, nextPassword(person)))
  for (const token of tokens.filter((token) => token !== actor))
    expect(await flows.whoami(server, token)).toBe(isChanged ? 401 : 200)
  if (password !== undefined) expect(await isAccepted(server, person, password)).toBe(!isChanged)
}

/** Signs the person in, if it is their password. */
async function isAccepted(server: Server, { email, events }: Person, password: string) {
  const answer = await flows.tryPassword(server, email, password)
  if (answer.status !== 200) {
    expect(errorsIn(answer)).toEqual([4000006])
    return false
  }
  // Not among those that a change in doubt may have ended.
  events['identity.login'] = (events['identity.login'] ?? 0) + 1
  return true
}

/** Starts flows that end after the next kill. */
async function beginFlows(server: Server) {
  const [late, lost] = [newPerson({ isThere: false }), newPerson({ isThere: true })]
  for (const person of [late, lost]) person.next = undefined
  await flows.create(server, lost.email)
  const registration = await flows.start(server, 'registration')
  const recovery = await flows.start(server, 'recovery')
  await well(flows.send(server, recovery, { method: 'code', email: lost.email }))

  return async (server: Server) => {
    late.password = PASSWORD
    const form = { method: 'password', traits: { email: late.email }, password: PASSWORD }
    await well(flows.send(server, registration, form))
    late.events = { 'identity.created': 1 }
    const [code] = flows.codesTo(lost.email)
    const recovered = await well(flows.send(server, recovery, { method: 'code', code }))
    expect(recovered.state).toBe('passed_challenge')
    lost.tokens.push(recovered.continue_with[0].ory_session_token)
    lost.events['identity.email_verified'] = 1
    return [late, lost]
  }
}

/** The body of an answer that has to be a success. */
async function well(asked: ReturnType<Flows['send']>): Promise<Json> {
  const answer = await asked
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

/** The ids of received events, by user and type. */
function eventsAt({ requests }: { requests: ReceivedRequest[] }) {
  const found = new Map<string, Set<string>>()
  for (const { body } of requests) {
    const { event_id, event_type, data } = JSON.parse(body)
    const what = `${data.identity_id} ${event_type}`
    found.set(what, (found.get(what) ?? new Set()).add(event_id))
  }
  return new Map([...found].map(([what, ids]) => [what, ids.size]))
}

const sumOf = (counts: Map<string, number>) => counts.values().reduce((sum, n) => sum + n, 0)

test('A kill -9 amid sign-ups, sign-ins and new passwords loses nothing acknowledged and does nothing by half', async () => {
  const target = stack.use(startTarget())
  let [server] = (await flows.running(1)) as [Server]
  const webhooks = '/v1/gate/settings/webhooks'
  await flows.gate.make(server, 'POST', webhooks, { url: target.url })
  const everybody: Person[] = []
  let cutOff = 0
  const unfinished = () => everybody.filter(({ next }) => next !== undefined)

  for (const _ of numbers(KILLS)) {
    const missing = numbers(UNFINISHED - unfinished().length)
    const added = missing.map((n) => newPerson({ isThere: n % 2 === 0 }))
    await each(added, async ({ next, email }) => {
      if (next === 'askForCode') await flows.create(server, email)
    })
    everybody.push(...added)
    const endFlows = await beginFlows(server)
    const crowd = startCrowd(server, unfinished())
    await Promise.race([until(() => crowd.steps() >= STEPS), crowd.done])
    expect(crowd.steps()).toBeGreaterThanOrEqual(STEPS)
    await server.kill()
    await crowd.done
    cutOff += crowd.cutOff()
    server = (await flows.running(1))[0] as Server
    await each(crowd.touched, (person) => expectKept(server, person))
    everybody.push(...(await endFlows(server)))
  }
  const inDoubt = everybody.filter(({ sent }) => sent !== undefined)
  await each(inDoubt, (person) => step(flows, server, person))
  await each(everybody, (person) => expectKept(server, person))

  expect(cutOff).toBeGreaterThan(KILLS)
  const people = await flows.gate.walk(server, IDENTITIES)
  const idOf = new Map(people.map(({ id, traits }) => [traits.email, id]))
  const there = everybody.filter(({ events }) => events['identity.created'] === 1)
  expect(new Set(idOf.keys())).toEqual(new Set(there.map(({ email }) => email)))
  const expected = new Map(
    there.flatMap(({ email, events }) =>
      Object.entries(events).map(([type, n]) => [`${idOf.get(email)} ${type}`, n] as const),
    ),
  )
  const total = sumOf(expected)
  await until(
    () => sumOf(eventsAt(target)) >= total,
    () => `${sumOf(eventsAt(target))} of ${total} events`,
  )
  expect(eventsAt(target)).toEqual(expected)
  expect(await flows.gate.walk(server, `${webhooks}/deliveries`)).toHaveLength(total)
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
  const shown = continue_with.find(({ action }: Json) => action === 'show_verification_ui')
  const verification = await follow(there, shown.flow.url)
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
