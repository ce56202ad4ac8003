import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { bootFixture, type Fixture } from './engines/passepartout/fixture.ts'
import {
  type Door,
  gauge,
  isOutcome,
  isQuestion,
  type Login,
  loginClient,
  msUntil,
  openDoor,
  openInstallation,
} from './engines/passepartout/processes.ts'
import { compileBinary, type Server, until } from './support/binary.ts'
import type { BotMessage, Person } from './support/bot-api/index.ts'

beforeAll(compileBinary, 120_000)

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
const portOf = ({ url }: Server) => ['--server-port', new URL(url).port]

/** The same numbers on each run: a test that fails once fails always. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

test('an operator sets up both bots beside a running server, which notices within 2 s, and lets nobody see the token', async () => {
  await using stack = new AsyncDisposableStack()
  const { botApi, serve, run, newKey, rows } = openInstallation(stack)
  const server = await serve('--log-level', 'debug')
  const printed: string[] = []
  async function operate(args: string[], input?: string) {
    const { out, err, code, json } = await run(args, input)
    printed.push(out, err)
    expect([args, code, err]).toEqual([args, 0, ''])
    return json()
  }
  const ada = botApi.person({ first_name: 'Ada' })
  const bot = botApi.bot({ name: 'Acme' })
  const tokens = [bot.token]

  const { id } = await operate(['tenant', 'create', '--name', 'Acme'])
  const live = ['--tenant', id, '--env', 'live']
  const { tryStart, start, status, introspect } = loginClient(await newKey(id, 'live'))
  const isStartAnswered = (expected: number) => async () =>
    (await tryStart(server)).status === expected
  const notYet = { error: { code: 'bot_not_configured' } }
  expect(await tryStart(server)).toMatchObject({ status: 409, body: notYet })
  const set = await operate(['bot', 'set', ...live, '--token-stdin'], `${bot.token}\n`)
  expect(set).toMatchObject({ username: bot.username, enabled: false, warnings: [] })
  expect(await tryStart(server)).toMatchObject({ status: 409, body: notYet })
  await operate(['bot', 'enable', ...live])
  expect(await msUntil(isStartAnswered(200))).toBeLessThan(2000)
  await botApi.waitForPoller(bot, 2000)

  async function signIn() {
    const login = await start(server, 'Shop')
    ada.follow(login.deep_link)
    ada.tap(await ada.waitForMessage(bot, isQuestion), login.match_code ?? '')
    const { body } = await status(server, login, 10)
    expect(body).toMatchObject({ status: 'completed', user: { first_name: 'Ada' } })
    expect(await introspect(server, body.access_token)).toMatchObject({
      active: true,
      subject: body.user.id,
      tenant_id: id,
    })
    await until(() => isOutcome(ada.lastMessage(bot) ?? expect.unreachable()))
    return { ...login, ...body }
  }
  const signedIn = await signIn()

  await operate(['bot', 'enable', '--tenant', id, '--env', 'test'])
  const sandbox = loginClient(await newKey(id, 'test'))
  await until(async () => (await sandbox.tryStart(server)).status === 200, server.out, 2000)
  const attempt = await sandbox.start(server)
  const page = server.url + new URL(attempt.deep_link).pathname
  expect(await (await fetch(page)).text()).toContain('Acme')
  const form = new URLSearchParams({ choice: 'approve', person: 'grace' })
  const posted = await fetch(page, { method: 'POST', body: form, redirect: 'manual' })
  expect(posted.status).toBe(303)
  expect((await sandbox.status(server, attempt)).body).toMatchObject({
    status: 'completed',
    access_token: expect.stringMatching(/^ppt_test_/),
    user: { platform: 'sandbox', platform_user_id: 'grace' },
  })

  const { bots } = await operate(['bot', 'list'])
  expect(bots).toMatchObject([
    { environment: 'live', platform: 'telegram', status: 'ok', enabled: true },
    { environment: 'test', platform: 'sandbox', status: 'ok', enabled: true },
  ])

  await operate(['bot', 'disable', ...live])
  expect(await msUntil(isStartAnswered(409))).toBeLessThan(2000)
  await until(
    () => botApi.pollers(bot) === 0,
    () => 'a poller of a bot that is disabled',
    2000,
  )
  await operate(['bot', 'enable', ...live])
  await botApi.waitForPoller(bot, 2000)

  tokens.push(bot.revokeToken())
  await until(isStartAnswered(409), server.out, 4000)
  expect((await operate(['bot', 'list'])).bots[0]).toMatchObject({ status: 'invalid_token' })
  await operate(['bot', 'set', ...live, '--token-stdin'], bot.token)
  expect(await msUntil(isStartAnswered(200))).toBeLessThan(2000)
  await botApi.waitForPoller(bot, 2000)
  botApi.fail({ method: 'sendMessage', drop: true, times: 1 })
  const again = await signIn()
  expect(again.user.id).toBe(signedIn.user.id)
  expect(again.access_token).not.toBe(signedIn.access_token)

  expect(await server.terminate()).toBe(0)
  const secrets = [signedIn, again].flatMap(({ nonce, deep_link, access_token }) => [
    nonce,
    new URL(deep_link).searchParams.get('start'),
    access_token,
  ])
  const halves = tokens.map((token) => token.split(':')[1] ?? expect.unreachable())
  const stored = JSON.stringify([
    ...rows('SELECT * FROM passepartout_bots'),
    ...rows('SELECT * FROM audit_log'),
    ...rows('SELECT * FROM passepartout_attempts'),
  ])
  for (const secret of [...halves, ...secrets])
    for (const text of [...printed, server.out(), server.err(), stored])
      expect(text).not.toContain(secret)
}, 300_000)

describe.each(['SIGTERM', 'SIGKILL'] as const)('a process that ends by %s', (signal) => {
  const stack = new AsyncDisposableStack()
  let door: Door
  let server: Server
  let ada: Person
  let login: Login

  beforeAll(async () => {
    door = await openDoor(stack)
    server = door.first
  }, 300_000)
  afterAll(() => stack.disposeAsync())

  async function restart() {
    const former = server
    const code = await (signal === 'SIGTERM' ? former.terminate() : former.kill())
    if (signal === 'SIGTERM') expect(code).toBe(0)
    server = await door.serve(...portOf(former))
  }

  /** The reply comes so late that the process ends while it waits for it. */
  const slow = (method: string) =>
    door.botApi.fail({ method, bot: door.bot, delayMs: 500, times: 1 })

  async function follow() {
    ada.follow(login.deep_link)
    await door.asked(ada)
  }

  /** The next call of the method that goes out for a bot of this installation. */
  async function underWay(method: string, act: () => unknown) {
    const before = door.botApi.callsOf(method).length
    using _ = slow(method)
    await act()
    await until(() => door.botApi.callsOf(method).length > before, server.out)
    await restart()
  }

  /** The latest update, and it is confirmed as well. */
  async function comeAgain() {
    const { botApi, bot } = door
    await botApi.waitForPoller(bot)
    const before = botApi.callsOf('getUpdates').length
    botApi.redeliver(bot)
    await until(() => botApi.callsOf('getUpdates').length > before)
  }

  const MOMENTS: [string, () => Promise<unknown>][] = [
    [
      'before the link is followed',
      async () => {
        await restart()
        ada.follow(login.deep_link)
        await door.approve(ada, login)
      },
    ],
    [
      'while the question is on its way',
      async () => {
        await underWay('sendMessage', () => ada.follow(login.deep_link))
        await door.approve(ada, login)
      },
    ],
    [
      'between the question and the answer',
      async () => {
        await follow()
        await restart()
        await door.approve(ada, login)
      },
    ],
    [
      'while nobody listens to the answer',
      async () => {
        await follow()
        door.botApi.hold(door.bot)
        await door.approve(ada, login)
        await restart()
        door.botApi.release(door.bot)
      },
    ],
    [
      'while the message is being changed to the outcome',
      async () => {
        await follow()
        await underWay('editMessageText', () => door.approve(ada, login))
      },
    ],
    [
      'at once after the answer is stored, which comes a second time',
      async () => {
        await follow()
        const told = door.status(server, login, 20)
        await door.approve(ada, login)
        expect((await told).body.status).toBe('completed')
        await restart()
        await comeAgain()
      },
    ],
  ]

  test.each(MOMENTS)(
    '%s keeps nobody from signing in, once',
    async (_, pass) => {
      const { botApi, bot, status, introspect, rows, count } = door
      ada = botApi.person({ first_name: 'Ada' })
      login = await door.start(server, 'Shop')

      await pass()

      const { body } = await status(server, login, 20)
      expect(body).toMatchObject({
        status: 'completed',
        user: { platform_user_id: String(ada.id) },
      })
      await until(() => ada.chat(bot).every(isOutcome) && count('passepartout_prompts') === 0)
      expect(ada.chat(bot)).toHaveLength(1)
      expect((await status(server, login)).body).toEqual(body)
      expect(await introspect(server, body.access_token)).toMatchObject({ subject: body.user.id })
      expect(count(`passepartout_tokens WHERE person_id = '${body.user.id}'`)).toBe(1)
      const told = `SELECT action FROM audit_log WHERE actor_id = '${body.user.id}'`
      expect(rows<{ action: string }>(told)).toEqual([{ action: 'login.approved' }])
    },
    300_000,
  )
})

test('a question that was sent but not noted down by a process that is killed is put again, and the answer to either counts', async () => {
  await using stack = new AsyncDisposableStack()
  const { botApi, bot, first, serve, start, status, count } = await openDoor(stack)
  const people = [botApi.person({ first_name: 'Ada' }), botApi.person({ first_name: 'Grace' })]
  const logins = [await start(first), await start(first)]
  botApi.fail({ method: 'sendMessage', delayMs: 5000, times: 2, worksAnyway: true })
  for (const [n, person] of people.entries()) person.follow(logins[n]?.deep_link ?? '')
  await Promise.all(people.map((person) => person.waitForMessage(bot)))

  await first.kill()
  const server = await serve(...portOf(first))
  await until(() => people.every((person) => person.chat(bot).length === 2))
  for (const [n, person] of people.entries())
    person.tap(person.chat(bot)[n] ?? expect.unreachable(), 'Approve')

  for (const login of logins)
    expect((await status(server, login, 10)).body).toMatchObject({ status: 'completed' })
  await until(() => count('passepartout_prompts') === 0)
  expect(count('passepartout_tokens')).toBe(2)
  for (const person of people) expect(person.chat(bot).filter(isOutcome)).toHaveLength(1)
  expect(botApi.callsOf('sendMessage')).toHaveLength(4)
}, 300_000)

/** So many processes on one data directory. */
async function openProcesses(stack: AsyncDisposableStack, processes: number) {
  const door = await openDoor(stack)
  const more = await Promise.all(numbers(processes - 1).map(() => door.serve()))
  const servers = [door.first, ...more]
  const ownerOf = (): Server =>
    servers.find(({ pid }) => pid === door.ownerPid()) ?? expect.unreachable()
  const others = (owner: Server) => servers.filter((server) => server !== owner)
  const [ada, grace] = [door.botApi.person(), door.botApi.person({ first_name: 'Grace' })]

  /** Signed in once, and all that was said about it was said once. */
  async function expectOnce(at: Server, person: Person, login: Login) {
    const { body } = await door.status(at, login, 20)
    expect(body).toMatchObject({
      status: 'completed',
      user: { platform_user_id: String(person.id) },
    })
    await until(() => person.chat(door.bot).every(isOutcome))
    expect(person.chat(door.bot)).toMatchObject([{ edits: 1 }])
    const whose = `'${body.user.id}'`
    expect(door.count(`passepartout_tokens WHERE person_id = ${whose}`)).toBe(1)
    expect(door.count(`audit_log WHERE actor_id = ${whose}`)).toBe(1)
  }

  return { ...door, servers, ownerOf, others, ada, grace, expectOnce }
}

describe('three processes on one data directory', () => {
  const stack = new AsyncDisposableStack()
  let three: Awaited<ReturnType<typeof openProcesses>>

  beforeAll(async () => {
    three = await openProcesses(stack, 3)
  }, 300_000)
  afterAll(() => stack.disposeAsync())

  test('poll as one, put each question once, and tell whoever waits at another within a second or so', async () => {
    const { botApi, bot, servers, start, status, asked, approve, conflicts, count } = three
    const people = numbers(30).map((n) => botApi.person({ first_name: `Ada ${n}` }))
    const logins = await Promise.all(people.map((_, n) => start(servers[n % 3] as Server, 'Shop')))
    const away = three.others(three.ownerOf())

    for (const [n, { deep_link }] of logins.entries()) people[n]?.follow(deep_link)
    await Promise.all(people.map(asked))
    const told = logins.map(async (login, n) => {
      const { body } = await status(away[n % 2] as Server, login, 20)
      return { at: performance.now(), body }
    })
    for (const server of away) await until(async () => (await gauge(server, 'logins_held')) === 15)
    await Promise.all(logins.map((login, n) => approve(people[n] as Person, login)))
    const tappedAt = performance.now()

    for (const { at, body } of await Promise.all(told)) {
      expect(body.status).toBe('completed')
      expect(at - tappedAt).toBeLessThan(1500)
    }
    await until(() => people.every((person) => person.chat(bot).every(isOutcome)))
    for (const person of people) expect(person.chat(bot)).toMatchObject([{ edits: 1 }])
    await until(() => count('passepartout_prompts') === 0)
    expect(botApi.callsOf('sendMessage')).toHaveLength(30)
    expect(botApi.callsOf('editMessageText')).toHaveLength(30)
    expect(count('passepartout_tokens')).toBe(30)
    expect(conflicts()).toBe(0)
    const receiving = await Promise.all(servers.map((server) => gauge(server, 'bots_receiving')))
    expect(receiving.toSorted()).toEqual([0, 0, 1])
  }, 300_000)

  test('replace the poller that is told to end within some 2 s', async () => {
    const { botApi, bot, ada, start, asked, approve, conflicts } = three
    const leaving = three.ownerOf()
    const [staying] = three.others(leaving) as [Server]
    const login = await start(staying, 'Shop')
    ada.follow(login.deep_link)
    await asked(ada)

    const left = leaving.terminate()
    const toldAt = performance.now()
    await until(() => botApi.pollers(bot) === 0)
    await approve(ada, login)
    await until(() => botApi.pollers(bot) === 1)
    const tookMs = performance.now() - toldAt

    expect(await left).toBe(0)
    expect(tookMs).toBeLessThan(2500)
    await three.expectOnce(staying, ada, login)
    expect(conflicts()).toBe(0)
  }, 300_000)
})

describe.concurrent('a poller that falls silent', () => {
  test('because it was killed is replaced within 10 s, and what it was amid of is done once', async () => {
    await using stack = new AsyncDisposableStack()
    const three = await openProcesses(stack, 3)
    const { botApi, bot, ada, grace, start, asked, approve, conflicts, ownerOf, others } = three
    const doomed = ownerOf()
    const [survivor] = others(doomed) as [Server]
    const [adas, graces] = [await start(survivor, 'Shop'), await start(survivor)]
    ada.follow(adas.deep_link)
    await asked(ada)
    const slow = botApi.fail({ method: 'sendMessage', delayMs: 5000, times: 1 })
    grace.follow(graces.deep_link)
    await until(() => slow.hits() === 1)

    await doomed.kill()
    const killedAt = performance.now()
    await until(() => botApi.pollers(bot) === 0)
    await approve(ada, adas)
    await botApi.waitForPoller(bot, 15_000)
    const tookMs = performance.now() - killedAt
    await approve(grace, graces)

    expect(tookMs).toBeLessThan(10_000)
    await three.expectOnce(survivor, ada, adas)
    await three.expectOnce(survivor, grace, graces)
    expect(conflicts()).toBe(0)
  }, 300_000)

  test.each([
    ['with an answer in its hands', 0],
    ['with none', 1],
  ])(
    'because it stands still, %s, is replaced, and lets go once it goes on: nothing is dealt with twice',
    async (_, conflictsThen) => {
      await using stack = new AsyncDisposableStack()
      const two = await openProcesses(stack, 2)
      const { botApi, ada, grace, start, asked, approve, conflicts, ownerOf, others, ownerPid } =
        two
      const frozen = ownerOf()
      const [awake] = others(frozen) as [Server]
      const [adas, graces] = [await start(awake, 'Shop'), await start(awake)]
      ada.follow(adas.deep_link)
      await asked(ada)
      const isReplaced = () => others(frozen).some(({ pid }) => pid === ownerPid())

      process.kill(frozen.pid, 'SIGSTOP')
      if (conflictsThen === 1) await until(() => conflicts() === 1, awake.out)
      const tap = await approve(ada, adas)
      await until(isReplaced, awake.out)
      const successor = ownerOf()
      await two.expectOnce(awake, ada, adas)
      process.kill(frozen.pid, 'SIGCONT')
      await until(async () => (await gauge(frozen, 'bots_receiving')) === 0, frozen.out)
      grace.follow(graces.deep_link)
      await approve(grace, graces)

      await two.expectOnce(frozen, grace, graces)
      await two.expectOnce(awake, ada, adas)
      expect(botApi.answersTo(tap)).toHaveLength(1)
      expect(ownerOf()).toBe(successor)
      expect(await gauge(successor, 'bots_receiving')).toBe(1)
      expect(conflicts()).toBe(conflictsThen)
    },
    300_000,
  )
})

const PEOPLE = 50
const APPROVALS_EACH = 5
const APPROVALS = PEOPLE * APPROVALS_EACH
const KILLS = 3

test('300 sign-ins of 50 people while the process is killed with -9 three times: whoever approved is signed in exactly once, and nobody else', async () => {
  await using stack = new AsyncDisposableStack()
  const { botApi, bot, first, serve, start, status, introspect, count, rows } =
    await openDoor(stack)
  let server = first
  let taps = 0
  let cutOff = 0
  // As far as the messenger is concerned, all of what is cut off has been done.
  for (const method of ['sendMessage', 'editMessageText'])
    botApi.fail({ method, delayMs: 20, worksAnyway: true })

  /** Of those of each person the last is denied, or opened by nobody. */
  async function newPerson(n: number) {
    const person = botApi.person({ first_name: `Ada ${n}` })
    const label = n % 2 === 0 ? 'Shop' : undefined
    const logins = await Promise.all(numbers(APPROVALS_EACH + 1).map(() => start(server, label)))
    const last = logins.pop() ?? expect.unreachable()
    return { person, approves: logins, last, denies: n % 5 < 2 }
  }

  const attemptIn = ({ data }: BotMessage) => data.flat()[0]?.split('.')[1] ?? ''

  /** Of a question that was put twice, the later one is answered. */
  async function answer(person: Person, { deep_link }: Login, over: Set<string>, button: string) {
    person.follow(deep_link)
    const isNew = (message: BotMessage) => isQuestion(message) && !over.has(attemptIn(message))
    const question = await person.waitForMessage(bot, isNew, 30_000)
    over.add(attemptIn(question))
    person.tap(question, button)
    taps++
  }

  /** Asks until it is told, by whichever process is there. */
  async function completed(login: Login) {
    for (;;) {
      const answer = await status(server, login, 20).catch(() => undefined)
      if (answer?.body.status === 'completed') return answer.body
      if (!answer) cutOff++
      await Bun.sleep(10)
    }
  }

  async function live({ person, approves, last, denies }: Awaited<ReturnType<typeof newPerson>>) {
    const over = new Set<string>()
    const signedIn = []
    for (const login of approves) {
      await answer(person, login, over, login.match_code ?? 'Approve')
      signedIn.push({ login, ...(await completed(login)) })
    }
    if (denies) await answer(person, last, over, 'Deny')
    return { person, last, denies, signedIn }
  }

  const people = await Promise.all(numbers(PEOPLE).map(newPerson))
  const lives = Promise.all(people.map(live))
  const random = seeded(20_260_301)
  for (const round of numbers(KILLS)) {
    const moment = Math.floor((APPROVALS * (round + random(100) / 100)) / KILLS)
    await until(() => taps >= moment, server.out)
    await server.kill()
    server = await serve(...portOf(server))
  }
  const lived = await lives
  await until(() => count('passepartout_prompts') === 0, server.out)

  expect(cutOff).toBeGreaterThan(KILLS)
  const subjects = new Set<string>()
  for (const { person, last, denies, signedIn } of lived) {
    subjects.add(signedIn[0]?.user.id)
    for (const { login, access_token, user } of signedIn) {
      expect(user).toMatchObject({ id: signedIn[0]?.user.id, platform_user_id: String(person.id) })
      expect((await status(server, login)).body).toMatchObject({ access_token, user })
      expect(await introspect(server, access_token)).toMatchObject({
        active: true,
        subject: user.id,
      })
    }
    expect(await status(server, last)).toMatchObject(
      denies
        ? { status: 404, body: { error: { code: 'login_denied' } } }
        : { status: 200, body: { status: 'pending' } },
    )
    const unanswered = person.chat(bot).filter(isQuestion)
    expect(unanswered.length).toBeLessThanOrEqual(KILLS)
  }
  expect(subjects.size).toBe(PEOPLE)
  expect(count('passepartout_attempts')).toBe(PEOPLE * (APPROVALS_EACH + 1))
  expect(count('passepartout_attempts WHERE access_token IS NOT NULL')).toBe(APPROVALS)
  expect(count('passepartout_tokens')).toBe(APPROVALS)
  expect(count("audit_log WHERE action = 'login.approved'")).toBe(APPROVALS)
  expect(await server.terminate()).toBe(0)
  expect(rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
}, 300_000)

test('200 questions that are held are answered before a process that is told to end does so', async () => {
  await using stack = new AsyncDisposableStack()
  const { first, start, status } = await openDoor(stack)
  const login = await start(first)
  const held = numbers(200).map(() => status(first, login, 25))
  await until(async () => (await gauge(first, 'logins_held')) === 200, first.out)

  const begun = performance.now()
  expect(await first.terminate()).toBe(0)
  const tookMs = performance.now() - begun

  expect(tookMs).toBeLessThan(3000)
  for (const { status, body } of await Promise.all(held))
    expect({ status, body }).toEqual({ status: 200, body: { status: 'pending' } })
}, 300_000)

describe('a disk without room', () => {
  /** Nothing fits in but what goes into pages that are there. */
  function fillDisk({ db }: Fixture['app']) {
    const { page_count } = db.client.query('PRAGMA page_count').get() as { page_count: number }
    db.client.run(`PRAGMA max_page_count = ${page_count}`)
  }

  const makeRoom = ({ db }: Fixture['app']) => db.client.run('PRAGMA max_page_count = 1000000')

  /** A fixture whose clock waits for no loop to come to rest: without a disk, none does. */
  async function boot() {
    const fixture = await bootFixture({ flags: { 'passepartout-nonce-lifetime': '1h' } })
    fixture.app.clock.settled = () => new Promise(setImmediate)
    return fixture
  }

  const START = '/v1/passepartout/login/start'
  const statusOf = ({ nonce }: Login) => `/v1/passepartout/login/status?nonce=${nonce}`

  test('a start that finds none is answered with 503 and leaves nothing behind, and works once there is room', async () => {
    await using fixture = await boot()
    const { app } = fixture
    const { live } = await fixture.signingTenant()
    const attempts = () => app.db.client.query('SELECT * FROM passepartout_attempts').all()
    fillDisk(app)

    let answer = await live.post(START)
    while (answer.status === 200) answer = await live.post(START)
    const before = attempts()
    const again = await live.post(START)

    for (const refused of [answer, again]) {
      expect(refused.status).toBe(503)
      expect(refused.headers.get('retry-after')).toBe('1')
    }
    expect(attempts()).toEqual(before)
    makeRoom(app)
    expect(await live.post(START)).toMatchObject({ status: 200 })
    expect(attempts()).toHaveLength(before.length + 1)
  }, 300_000)

  test('answers that find none are asked for again until they are stored, and only then told', async () => {
    await using fixture = await boot()
    const { app, botApi } = fixture
    const { bot, live } = await fixture.signingTenant()
    const people = numbers(40).map((n) => botApi.person({ first_name: `Ada ${n}` }))
    const logins: Login[] = []
    for (const person of people) {
      const { body } = await live.post(START)
      logins.push(body)
      person.follow(body.deep_link)
    }
    const questions = await Promise.all(people.map((each) => each.waitForMessage(bot, isQuestion)))
    await botApi.waitForPoller(bot)
    const approved = () =>
      app.db.client.query("SELECT 1 FROM passepartout_attempts WHERE state = 'approved'").all()
        .length
    const polls = () => botApi.callsOf('getUpdates')
    const offset = polls().at(-1)?.params.offset
    fillDisk(app)

    botApi.hold(bot)
    const taps = people.map((person, n) =>
      person.tap(questions[n] ?? expect.unreachable(), 'Approve'),
    )
    botApi.release(bot)
    const answers = () => taps.flatMap((tap) => botApi.answersTo(tap))
    const before = polls().length
    await until(async () => {
      await app.clock.advance(1000)
      return polls().length >= before + 3
    })

    for (const { params } of polls().slice(before)) expect(params.offset).toBe(offset)
    await until(() => answers().length === approved())
    expect(approved()).toBeLessThan(people.length)

    makeRoom(app)
    await until(async () => {
      await app.clock.advance(1000)
      return approved() === people.length
    })
    await until(async () => {
      await app.clock.advance(1000)
      return people.every((person) => person.chat(bot).every(isOutcome))
    })
    expect(answers()).toHaveLength(people.length)
    const tokens = new Set<string>()
    for (const login of logins) tokens.add((await live.get(statusOf(login))).body.access_token)
    expect(tokens.size).toBe(people.length)
    expect(app.db.client.query('SELECT 1 FROM passepartout_tokens').all()).toHaveLength(
      people.length,
    )
    expect((polls().at(-1)?.params.offset as number) - (offset as number)).toBe(people.length)
  }, 300_000)
})
