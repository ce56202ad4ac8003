import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../../src/platform/clock.ts'
import type { Json } from '../../engines/gate/fixture.ts'
import { gateClient } from '../../engines/gate/processes.ts'
import {
  bootFlows,
  type FlowFixture,
  node,
  PASSWORD,
  totpAt,
} from '../../engines/gate/sign-in/flows/fixture.ts'
import {
  newPerson,
  nextPassword,
  OVER,
  type Person,
  step,
} from '../../engines/gate/sign-in/flows/lives.ts'
import {
  errorsIn,
  type Installation,
  openInstallation,
} from '../../engines/gate/sign-in/flows/processes.ts'
import type { Answer } from '../../support/app.ts'
import { compileBinary, until } from '../../support/binary.ts'
import { freePort } from '../../support/port.ts'
import { type ReceivedRequest, startTarget } from '../../support/target.ts'
import { isBroken, numbers } from './receiver.ts'

beforeAll(compileBinary, 120_000)

const KILLS = 8
const CLIENTS = 12
/** The steps of all people together before the process is killed. */
const STEPS = 40
/** People with at least one step left. */
const UNFINISHED = 48

/** Works on all items, `CLIENTS` at a time. */
async function each<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>) {
  const rest = [...items].values()
  async function some() {
    for (const item of rest) await work(item)
  }
  await Promise.all(numbers(CLIENTS).map(some))
}

/** Runs the steps of people until the crowd ends or the server is gone. */
function startCrowd(installation: Installation, server: string, people: Person[]) {
  const touched = new Set<Person>()
  let isOver = false
  let steps = 0
  let cutOff = 0

  async function live(person: Person) {
    touched.add(person)
    try {
      while (person.next !== undefined && !isOver) {
        await step(installation, server, person)
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
  const end = () => {
    isOver = true
    return done
  }
  return { touched, done, end, steps: () => steps, cutOff: () => cutOff }
}

/** Expects what was acknowledged; a request without response is done whole or not at all. */
async function expectKept(installation: Installation, server: string, person: Person) {
  const { email, password, tokens, actor } = person
  const isChangeInDoubt = person.next === 'changePassword' && person.sent !== undefined
  for (const token of person.endedTokens)
    expect(await installation.whoami(server, token)).toMatchObject({ status: 401 })
  for (const former of person.formerPasswords)
    expect(errorsIn(await installation.tryPassword(server, email, former))).toEqual([4000006])
  for (const { flow, form } of person.usedCodes) {
    const again = await installation.send(server, flow, form)
    expect(again).toMatchObject({ status: 422 })
    expect(OVER).toContain(errorsIn(again)[0] as number)
  }
  if (actor !== undefined)
    expect(await installation.whoami(server, actor)).toMatchObject({ status: 200 })
  const isChanged =
    isChangeInDoubt && (await isAccepted(installation, server, person, nextPassword(person)))
  for (const token of tokens.filter((token) => token !== actor))
    expect(await installation.whoami(server, token)).toMatchObject({
      status: isChanged ? 401 : 200,
    })
  if (password !== undefined)
    expect(await isAccepted(installation, server, person, password)).toBe(!isChanged)
}

/** Signs the person in, if it is their password. */
async function isAccepted(
  installation: Installation,
  server: string,
  person: Person,
  password: string,
) {
  const answer = await installation.tryPassword(server, person.email, password)
  if (answer.status !== 200) {
    expect(errorsIn(answer)).toEqual([4000006])
    return false
  }
  // Not among those that a change in doubt may have ended.
  const { events } = person
  events['identity.login'] = (events['identity.login'] ?? 0) + 1
  return true
}

/** Starts flows that end after the next kill. */
async function beginFlows(installation: Installation, server: string, round: number) {
  const late = newPerson({ isThere: false })
  const lost = newPerson({ isThere: true })
  for (const person of [late, lost]) person.next = undefined
  await installation.create(server, lost.email)
  const registration = await installation.start(server, 'registration')
  const recovery = await installation.start(server, 'recovery')
  const asked = await installation.send(server, recovery, { method: 'code', email: lost.email })
  expect(asked).toMatchObject({ status: 200, body: { state: 'sent_email' } })

  async function end(server: string) {
    const password = `correct horse ${round} battery`
    const form = { method: 'password', traits: { email: late.email }, password }
    expect(await installation.send(server, registration, form)).toMatchObject({ status: 200 })
    late.events = { 'identity.created': 1 }
    late.password = password
    const [code] = installation.codesTo(lost.email)
    const recovered = await installation.send(server, recovery, { method: 'code', code })
    expect(recovered).toMatchObject({ status: 200, body: { state: 'passed_challenge' } })
    const [session] = recovered.body.continue_with
    lost.tokens.push(session.ory_session_token)
    lost.events['identity.email_verified'] = 1
    return [late, lost]
  }

  return end
}

/** The ids of received events, by user and type. */
function eventsAt({ requests }: { requests: ReceivedRequest[] }) {
  const found = new Map<string, Set<string>>()
  for (const { body } of requests) {
    const { event_id, event_type, data } = JSON.parse(body)
    const what = `${data.identity_id} ${event_type}`
    found.set(what, (found.get(what) ?? new Set()).add(event_id))
  }
  return found
}

test('8 times kill -9 amid sign-ups, sign-ins and new passwords lose nothing acknowledged and do nothing by half', async () => {
  await using stack = new AsyncDisposableStack()
  const samePort = ['--server-port', `${freePort()}`]
  const installation = await openInstallation(stack, ...samePort)
  const target = stack.use(startTarget())
  const api = gateClient(installation.key)
  await api.createWebhook(installation.first.url, { url: target.url })
  const everybody: Person[] = []
  let server = installation.first
  let cutOff = 0
  const unfinished = () => everybody.filter(({ next }) => next !== undefined)

  async function addPeople(count: number) {
    const added = numbers(count).map((n) => newPerson({ isThere: n % 2 === 0 }))
    await each(added, async (person) => {
      if (person.next === 'askForCode') await installation.create(server.url, person.email)
    })
    everybody.push(...added)
  }

  for (const round of numbers(KILLS)) {
    await addPeople(UNFINISHED - unfinished().length)
    const endFlows = await beginFlows(installation, server.url, round)
    const crowd = startCrowd(installation, server.url, unfinished())
    await Promise.race([until(() => crowd.steps() >= STEPS), crowd.done])
    expect(crowd.steps()).toBeGreaterThanOrEqual(STEPS)
    await server.kill()
    await crowd.end()
    cutOff += crowd.cutOff()
    server = await installation.serve(...samePort)
    await each(crowd.touched, (person) => expectKept(installation, server.url, person))
    everybody.push(...(await endFlows(server.url)))
  }
  const inDoubt = everybody.filter(({ sent }) => sent !== undefined)
  await each(inDoubt, (person) => step(installation, server.url, person))
  await each(everybody, (person) => expectKept(installation, server.url, person))

  expect(cutOff).toBeGreaterThan(KILLS)
  const people = await api.identities(server.url)
  const idOf = new Map(people.map(({ id, traits }) => [traits.email, id]))
  const there = everybody.filter(({ events }) => events['identity.created'] === 1)
  expect(new Set(idOf.keys())).toEqual(new Set(there.map(({ email }) => email)))
  const expected = new Map<string, number>()
  for (const { email, events } of there)
    for (const [type, count] of Object.entries(events))
      expected.set(`${idOf.get(email)} ${type}`, count)
  const total = expected.values().reduce((sum, count) => sum + count, 0)
  const told = () =>
    eventsAt(target)
      .values()
      .reduce((sum, ids) => sum + ids.size, 0)
  await until(
    () => told() >= total,
    () => `${told()} of ${total} events`,
  )
  const counted = [...eventsAt(target)].map(([what, ids]) => [what, ids.size] as const)
  expect(new Map(counted)).toEqual(expected)
  expect(await api.deliveries(server.url)).toHaveLength(total)
}, 300_000)

type Two = Installation & { here: string; there: string }

describe('two processes on one data directory', () => {
  const stack = new AsyncDisposableStack()
  let two: Two

  beforeAll(async () => {
    const installation = await openInstallation(stack)
    const { url: there } = await installation.serve()
    two = { ...installation, here: installation.first.url, there }
  }, 300_000)
  afterAll(() => stack.disposeAsync())

  /** Signed up at the one, by a flow of the other: the answer to that. */
  async function register(email: string): Promise<Json> {
    const { here, there, start, send } = two
    const flow = await start(here, 'registration')
    const form = { method: 'password', traits: { email }, password: PASSWORD }
    const answer = await send(there, flow, form)
    expect(answer).toMatchObject({ status: 200 })
    return answer.body
  }

  async function change(server: string, token: string, form: Json) {
    return two.send(server, await two.start(server, 'settings', token), form, token)
  }

  test('a flow of one is completed at the other, and over at both', async () => {
    const { here, there, start, send, whoami, codesTo } = two
    const email = 'ada@example.com'
    const { session_token, continue_with } = await register(email)
    expect(await whoami(here, session_token)).toMatchObject({ status: 200 })

    const login = await start(there, 'login')
    const form = { method: 'password', identifier: email, password: PASSWORD }
    expect(await send(here, login, form)).toMatchObject({ status: 200 })
    for (const url of [there, here])
      expect(errorsIn(await send(url, login, form))).toEqual([4010007])

    const shown = continue_with.find(({ action }: Json) => action === 'show_verification_ui')
    const verification = await two.read(there, shown.flow.url)
    const [code] = codesTo(email)
    expect(await send(there, verification, { method: 'code', code })).toMatchObject({
      status: 200,
      body: { state: 'passed_challenge' },
    })
    for (const url of [here, there])
      expect(errorsIn(await send(url, verification, { method: 'code', code }))).toEqual([4070002])
  }, 300_000)

  test('a code that is sent to both at once signs in once', async () => {
    const { here, there, create, start, send, whoami, codesTo } = two
    for (const n of numbers(12)) {
      const email = `grace-${n}@example.com`
      // Whose codes outlive a sign-in by another one, unlike those of a person never proven.
      await create(here, email, { verifiable_addresses: [{ value: email, verified: true }] })
      const flow = await start(here, 'login')
      expect(await send(there, flow, { method: 'code', identifier: email })).toMatchObject({
        status: 200,
      })
      const [code] = codesTo(email)

      const both = numbers(6).map((turn) => (turn % 2 === 0 ? here : there))
      const answers = await Promise.all(
        both.map((url) => send(url, flow, { method: 'code', code })),
      )

      const [only, ...others] = answers.filter(({ status }) => status === 200)
      expect(others).toEqual([])
      expect(answers.filter(({ status }) => status === 422)).toHaveLength(5)
      for (const url of [here, there])
        expect(await whoami(url, only?.body.session_token)).toMatchObject({
          body: { identity: { traits: { email } } },
        })
    }
  }, 300_000)

  test('wrong codes that are sent to both share five tries', async () => {
    const { here, there, create, start, send, codesTo } = two
    const email = 'joan@example.com'
    await create(here, email)
    const flow = await start(here, 'login')
    await send(here, flow, { method: 'code', identifier: email })
    const [code] = codesTo(email)
    const wrong = code === '000000' ? '111111' : '000000'

    const tries = numbers(12).map((n) =>
      send(n % 2 === 0 ? here : there, flow, { method: 'code', code: wrong }),
    )
    const said = (await Promise.all(tries)).flatMap(errorsIn)

    expect(said.filter((id) => id === 4010008)).toHaveLength(5)
    expect(said.filter((id) => id === 4900001)).toHaveLength(7)
    for (const url of [here, there])
      expect(errorsIn(await send(url, flow, { method: 'code', code }))).toEqual([4900001])
  }, 300_000)

  test('a new password is valid at both at once, and ends the old one and other sessions', async () => {
    const { here, there, tryPassword, whoami } = two
    const email = 'edith@example.com'
    const { session_token: registered } = await register(email)
    let password = PASSWORD
    for (const n of numbers(6)) {
      const [one, other] = n % 2 === 0 ? [here, there] : [there, here]
      const elsewhere = (await tryPassword(other, email, password)).body.session_token
      expect(await whoami(other, elsewhere)).toMatchObject({ status: 200 })
      const next = `correct horse ${n} staple`

      expect(await change(one, registered, { method: 'password', password: next })).toMatchObject({
        status: 200,
        body: { state: 'success' },
      })

      expect(await whoami(other, elsewhere)).toMatchObject({ status: 401 })
      expect(errorsIn(await tryPassword(other, email, password))).toEqual([4000006])
      expect(await tryPassword(other, email, next)).toMatchObject({ status: 200 })
      expect(await whoami(other, registered)).toMatchObject({ status: 200 })
      password = next
    }
  }, 300_000)

  test('a code of an authenticator app works once', async () => {
    const { here, there, start, send, read, tryPassword, whoami } = two
    const email = 'mary@example.com'
    const { session_token } = await register(email)
    const settings = await start(here, 'settings', session_token)
    const secret = node(settings, 'totp_secret_key').attributes.text.context.secret
    const now = systemClock.now()
    const enrolment = { method: 'totp', totp_code: totpAt(secret, now) }
    expect(await send(there, settings, enrolment, session_token)).toMatchObject({ status: 200 })
    // Of the next step: a clock may be so far ahead, and it is later than the one that is used up.
    const form = { method: 'totp', totp_code: totpAt(secret, now + 30_000) }
    const passwords = await Promise.all(
      [here, there].map((url) => tryPassword(url, email, PASSWORD)),
    )
    const flows = await Promise.all(
      passwords.map(async ({ body }) => {
        const { redirect_browser_to: url } = body.continue_with.at(-1)
        const token: string = body.session_token
        return { flow: await read(here, url, token), token }
      }),
    )

    const answers = await Promise.all(
      flows.map(({ flow, token }, n) => send(n === 0 ? here : there, flow, form, token)),
    )

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
    for (const [n, { status }] of answers.entries())
      for (const url of [here, there])
        expect(await whoami(url, flows[n]?.token as string)).toMatchObject({
          status: status === 200 ? 200 : 403,
        })
    const refused = flows[answers.findIndex(({ status }) => status === 422)]
    for (const url of [here, there])
      expect(errorsIn(await send(url, refused?.flow, form, refused?.token))).toEqual([4000008])
  }, 300_000)
})

describe('a full disk', () => {
  const EMAIL = (n: number) => `person-${n}@example.com`
  type App = FlowFixture['app']

  /** Leaves no room but in existing pages. */
  function fillDisk({ db }: App) {
    const { page_count } = db.client.query('PRAGMA page_count').get() as { page_count: number }
    db.client.run(`PRAGMA max_page_count = ${page_count}`)
  }

  /** Every row of every table. */
  function contentOf({ db }: App) {
    const tables = db.client.query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
    )
    return tables.all().map(({ name }) => [name, db.client.query(`SELECT * FROM ${name}`).all()])
  }

  /** A flow to which a code was sent, and that code. */
  async function codeSent(fixture: FlowFixture, kind: string, name: string, n: number) {
    await fixture.createIdentity({ traits: { email: EMAIL(n) } })
    const flow = await fixture.start(kind)
    await fixture.sendWell(flow, { method: 'code', [name]: EMAIL(n) })
    return { flow, code: fixture.codeFor(EMAIL(n)) }
  }

  /** Each prepares one request of a user, which is sent when it is called. */
  const REQUESTS: Record<string, (of: FlowFixture, n: number) => Promise<() => Promise<Answer>>> = {
    'the start of a flow':
      async ({ ask }) =>
      () =>
        ask('login'),
    async 'a sign-up'({ start, send }, n) {
      const flow = await start('registration')
      const traits = { email: EMAIL(n) }
      return () => send(flow, { method: 'password', traits, password: PASSWORD })
    },
    async 'a sign-in'({ start, send, register }, n) {
      if (n === 0) await register(EMAIL(0))
      const flow = await start('login')
      return () => send(flow, { method: 'password', identifier: EMAIL(0), password: PASSWORD })
    },
    async 'a request for a code'({ start, send, createIdentity }, n) {
      await createIdentity({ traits: { email: EMAIL(n) } })
      const flow = await start('login')
      return () => send(flow, { method: 'code', identifier: EMAIL(n) })
    },
    async 'a sign-in by code'(fixture, n) {
      const { flow, code } = await codeSent(fixture, 'login', 'identifier', n)
      return () => fixture.send(flow, { method: 'code', code })
    },
    async 'a recovery'(fixture, n) {
      const { flow, code } = await codeSent(fixture, 'recovery', 'email', n)
      return () => fixture.send(flow, { method: 'code', code })
    },
    async 'a new password'({ settings, send, register }, n) {
      const { session_token } = await register(EMAIL(n))
      const flow = await settings(session_token)
      const fields = { method: 'password', password: `${PASSWORD} staple` }
      return () => send(flow, fields, { 'x-session-token': session_token })
    },
  }

  test.each(Object.entries(REQUESTS))(
    'answers %s with 503, changes nothing, and works again with room',
    async (_, prepare) => {
      await using fixture = await bootFlows({ flags: { 'limits-sign-ins-per-minute': '1000000' } })
      const { app } = fixture
      await fixture.security({ passwordless_enabled: true })
      const requests: (() => Promise<Answer>)[] = []
      for (const n of numbers(40)) requests.push(await prepare(fixture, n))
      fillDisk(app)

      let before = contentOf(app)
      let send = requests[0] as () => Promise<Answer>
      const refused: Answer[] = []
      for (send of requests) {
        before = contentOf(app)
        const answer = await send()
        if (answer.status === 200) continue
        refused.push(answer)
        break
      }
      for (const _ of numbers(12)) refused.push(await send())
      for (const { status, headers, body } of refused)
        expect([status, headers.get('retry-after'), body]).toEqual([
          ...[503, '1'],
          { error: 'storage: the disk is full' },
        ])
      expect(refused).toHaveLength(13)
      expect(contentOf(app)).toEqual(before)

      app.db.client.run('PRAGMA max_page_count = 1000000')
      expect(await send()).toMatchObject({ status: 200 })
      expect(contentOf(app)).not.toEqual(before)
    },
    300_000,
  )
})
