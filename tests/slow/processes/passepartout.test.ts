import { afterAll, expect, test } from 'bun:test'
import { type Server, until } from '../../support/binary.ts'
import type { Person } from '../../support/bot-api/index.ts'
import { cli } from '../../support/cli.ts'
import { numbers } from '../resilience/support/api.ts'
import {
  gauge,
  isOutcome,
  isQuestion,
  type Login,
  loginClient,
  openLogins,
  type Tenant,
} from './logins.ts'

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())
const { botApi, cwd, dataDir, newTenant, one, rows, running } = openLogins(stack)

/** Signed in once, with one token and one message that was changed once. */
async function expectOnce(tenant: Tenant, at: Server, person: Person, login: Login) {
  const { body } = await tenant.status(at, login, 20)
  expect(body).toMatchObject({ status: 'completed', user: { platform_user_id: `${person.id}` } })
  await until(() => person.chat(tenant.bot).every(isOutcome))
  expect(person.chat(tenant.bot)).toMatchObject([{ edits: 1 }])
  expect((await tenant.status(at, login)).body).toEqual(body)
  expect(await tenant.introspect(at, body.access_token)).toMatchObject({ subject: body.user.id })
  expect(tenant.countOf('tokens', `person_id = '${body.user.id}'`)).toBe(1)
  expect(rows(`SELECT action FROM audit_log WHERE actor_id = '${body.user.id}'`)).toEqual([
    { action: 'login.approved' },
  ])
}

test('An operator sets up a bot beside a running server, and no output shows a secret', async () => {
  const server = await one()
  const printed: string[] = []
  const settings = {
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_PASSEPARTOUT_TELEGRAM_API_ROOT: botApi.url,
  }
  async function operate(line: string, input = '') {
    const run = cli(cwd, { env: settings, input })
    const { out, err, code, json } = await run(...line.split(' '), '--json')
    expect([line, code, err]).toEqual([line, 0, ''])
    if (!line.startsWith('key')) printed.push(out)
    return json()
  }
  const [ada, bot] = [botApi.person(), botApi.bot()]
  const tokens = [bot.token]
  const { id } = await operate('tenant create --name Acme')
  const live = `--tenant ${id} --env live`
  const { key } = await operate(`key create --engine passepartout ${live}`)
  const { tryStart, start, status } = loginClient(key)
  const startIs = (expected: number) => async () => (await tryStart(server)).status === expected
  const setToken = (input: string) => operate(`bot set ${live} --token-stdin`, input)

  expect(await setToken(`${bot.token}\n`)).toMatchObject({ enabled: false, warnings: [] })
  expect((await tryStart(server)).body.error.code).toBe('bot_not_configured')
  await operate(`bot enable ${live}`)
  await until(startIs(200), server.out, 2000)
  await botApi.waitForPoller(bot, 2000)

  async function signIn() {
    const login = await start(server, 'Shop')
    ada.follow(login.deep_link)
    ada.tap(await ada.waitForMessage(bot, isQuestion), login.match_code ?? '')
    const { body } = await status(server, login, 10)
    await until(() => ada.chat(bot).every(isOutcome))
    return [login.nonce, login.deep_link.slice(-43), body.access_token as string]
  }
  const secrets = await signIn()
  tokens.push(bot.revokeToken())
  await until(startIs(409), server.out, 4000)
  const { bots } = await operate(`bot list --tenant ${id}`)
  expect(bots).toMatchObject([{ environment: 'live', status: 'invalid_token', enabled: true }])
  await setToken(bot.token)
  await until(startIs(200), server.out, 2000)
  await botApi.waitForPoller(bot, 2000)
  botApi.fail({ method: 'sendMessage', bot, drop: true, times: 1 })
  secrets.push(...(await signIn()))
  await operate(`bot remove ${live}`)
  await until(() => botApi.pollers(bot) === 0, server.out, 2000)

  const tables = ['passepartout_bots', 'audit_log', 'passepartout_attempts']
  const stored = JSON.stringify(tables.map((table) => rows(`SELECT * FROM ${table}`)))
  for (const secret of [...tokens.map((token) => token.split(':')[1] as string), ...secrets])
    for (const text of [...printed, server.out(), server.err(), stored])
      expect(text).not.toContain(secret)
}, 300_000)

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'A process that ends by %s at any moment keeps no one from signing in, once',
  async (signal) => {
    const server = await one()
    const tenant = await newTenant()
    const { approve, asked, bot, callsOf, start, status } = tenant
    const moments = ['before', 'asking', 'asked', 'tapping', 'changing', 'completed'] as const
    const people = {} as Record<(typeof moments)[number], { person: Person; login: Login }>
    for (const moment of moments)
      people[moment] = { person: botApi.person(), login: await start(server, 'Shop') }
    const follow = (moment: keyof typeof people) => {
      const { person, login } = people[moment]
      person.follow(login.deep_link)
    }
    const tap = (moment: keyof typeof people) =>
      approve(people[moment].person, people[moment].login)

    for (const moment of ['asked', 'tapping', 'changing', 'completed'] as const) {
      follow(moment)
      await asked(people[moment].person)
    }
    await tap('completed')
    expect((await status(server, people.completed.login, 20)).body.status).toBe('completed')
    await until(() => people.completed.person.chat(bot).every(isOutcome))
    const edits = callsOf('editMessageText').length
    botApi.fail({ method: 'editMessageText', bot, delayMs: 3000, times: 1 })
    await tap('changing')
    await until(() => callsOf('editMessageText').length > edits)
    const questions = callsOf('sendMessage').length
    botApi.fail({ method: 'sendMessage', bot, delayMs: 3000, times: 1 })
    follow('asking')
    await until(() => callsOf('sendMessage').length > questions)
    botApi.hold(bot)
    await tap('tapping')
    if (signal === 'SIGTERM') expect(await server.terminate()).toBe(0)
    else await server.kill()

    const next = await one()
    botApi.release(bot)
    await botApi.waitForPoller(bot, 10_000)
    botApi.redeliver(bot, 7)
    follow('before')
    for (const moment of ['before', 'asking', 'asked'] as const) await tap(moment)
    for (const { person, login } of Object.values(people))
      await expectOnce(tenant, next, person, login)
    await until(() => tenant.countOf('prompts') === 0)
  },
  300_000,
)

test('A question whose message a killed process did not store is sent again, and either counts; held requests are answered before a process ends', async () => {
  const server = await one()
  const { bot, callsOf, countOf, start, status } = await newTenant()
  const people = [botApi.person(), botApi.person()]
  const logins = [await start(server), await start(server)]
  const late = { delayMs: 5000, times: 2, worksAnyway: true } as const
  botApi.fail({ method: 'sendMessage', bot, ...late })
  for (const [n, person] of people.entries()) person.follow(logins[n]?.deep_link ?? '')
  await Promise.all(people.map((person) => person.waitForMessage(bot)))

  await server.kill()
  const next = await one()
  await until(() => people.every((person) => person.chat(bot).length === 2))
  for (const [n, person] of people.entries())
    person.tap(person.chat(bot)[n] ?? expect.unreachable(), 'Approve')
  for (const login of logins)
    expect((await status(next, login, 10)).body).toMatchObject({ status: 'completed' })
  await until(() => countOf('prompts') === 0)
  expect(countOf('tokens')).toBe(2)
  for (const person of people) expect(person.chat(bot).filter(isOutcome)).toHaveLength(1)
  expect(callsOf('sendMessage')).toHaveLength(4)

  const login = await start(next)
  const held = numbers(60).map(() => status(next, login, 25))
  await until(async () => (await gauge(next, 'logins_held')) === 60, next.out)
  const begun = performance.now()
  expect(await next.terminate()).toBe(0)
  expect(performance.now() - begun).toBeLessThan(3000)
  for (const answer of await Promise.all(held))
    expect(answer).toMatchObject({ status: 200, body: { status: 'pending' } })
  expect(rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
}, 300_000)

test('Three processes poll as one and answer held requests of each other; a poller that ends or is killed is replaced, and its work is done once', async () => {
  const servers = await running(3)
  const tenant = await newTenant()
  const { approve, asked, bot, callsOf, conflicts, countOf, start, status } = tenant
  const people = numbers(6).map(() => botApi.person())
  const logins = await Promise.all(people.map((_, n) => start(servers[n % 3] as Server, 'Shop')))
  const leaving = tenant.owner() as Server
  const [here, there] = servers.filter((server) => server !== leaving) as [Server, Server]
  for (const [n, { deep_link }] of logins.entries()) people[n]?.follow(deep_link)
  await Promise.all(people.map(asked))
  const told = logins.map(async (login, n) => {
    const { body } = await status(n % 2 === 0 ? here : there, login, 20)
    return { at: performance.now(), body }
  })
  for (const server of [here, there])
    await until(async () => (await gauge(server, 'logins_held')) === 3)
  await Promise.all(logins.map((login, n) => approve(people[n] as Person, login)))
  const tappedAt = performance.now()
  for (const { at, body } of await Promise.all(told)) {
    expect(body.status).toBe('completed')
    expect(at - tappedAt).toBeLessThan(1500)
  }
  await until(() => countOf('prompts') === 0)
  for (const person of people) expect(person.chat(bot)).toMatchObject([{ edits: 1 }])
  for (const method of ['sendMessage', 'editMessageText']) expect(callsOf(method)).toHaveLength(6)
  expect(countOf('tokens')).toBe(6)

  const [ada, login] = [botApi.person(), await start(here, 'Shop')]
  ada.follow(login.deep_link)
  await asked(ada)
  const toldAt = performance.now()
  const left = leaving.terminate()
  await until(() => botApi.pollers(bot) === 0)
  await approve(ada, login)
  await until(() => botApi.pollers(bot) === 1)
  expect(performance.now() - toldAt).toBeLessThan(2500)
  expect(await left).toBe(0)
  await expectOnce(tenant, here, ada, login)

  const doomed = tenant.owner() as Server
  const survivor = doomed === here ? there : here
  const [mary, grace] = [botApi.person(), botApi.person()]
  const [marys, graces] = [await start(survivor, 'Shop'), await start(survivor)]
  mary.follow(marys.deep_link)
  await asked(mary)
  const slow = botApi.fail({ method: 'sendMessage', bot, delayMs: 3000, times: 1 })
  grace.follow(graces.deep_link)
  await until(() => slow.hits() === 1)
  await doomed.kill()
  const killedAt = performance.now()
  await until(() => botApi.pollers(bot) === 0)
  await approve(mary, marys)
  await botApi.waitForPoller(bot, 15_000)
  expect(performance.now() - killedAt).toBeLessThan(10_000)
  await approve(grace, graces)
  await expectOnce(tenant, survivor, mary, marys)
  await expectOnce(tenant, survivor, grace, graces)
  expect(conflicts()).toBe(0)
}, 300_000)

test('A poller that stands still is replaced, and lets go once it goes on', async () => {
  // Both bots are polled by the process that is there first.
  const frozen = await one()
  const tenants = [await newTenant(), await newTenant()] as const
  const [, awake] = (await running(2)) as [Server, Server]
  const [ada, grace] = [botApi.person(), botApi.person()]
  const logins = await Promise.all(tenants.map(({ start }) => start(awake, 'Shop')))
  for (const [n, { asked }] of tenants.entries()) {
    ada.follow(logins[n]?.deep_link ?? '')
    await asked(ada)
  }
  const [withAnswer, withNone] = tenants

  process.kill(frozen.pid, 'SIGSTOP')
  const taps = [await withAnswer.approve(ada, logins[0] as Login)]
  await until(() => withNone.conflicts() === 1, awake.out)
  taps.push(await withNone.approve(ada, logins[1] as Login))
  await until(() => tenants.every((tenant) => tenant.owner() === awake), awake.out)
  for (const [n, tenant] of tenants.entries())
    await expectOnce(tenant, awake, ada, logins[n] as Login)
  process.kill(frozen.pid, 'SIGCONT')
  await until(async () => (await gauge(frozen, 'bots_receiving')) === 0, frozen.out)

  for (const [n, tenant] of tenants.entries()) {
    const login = await tenant.start(awake)
    grace.follow(login.deep_link)
    await tenant.approve(grace, login)
    await expectOnce(tenant, frozen, grace, login)
    await expectOnce(tenant, awake, ada, logins[n] as Login)
    expect(tenant.owner()).toBe(awake)
  }
  for (const tap of taps) expect(botApi.answersTo(tap)).toHaveLength(1)
  expect(tenants.map(({ conflicts }) => conflicts())).toEqual([0, 1])
}, 300_000)
