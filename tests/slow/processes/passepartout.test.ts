import { afterAll, expect, test } from 'bun:test'
import { withNewServices } from '../../../src/cli/open.ts'
import { INTROSPECT, START, statusOf } from '../../engines/passepartout/fixture.ts'
import { type Server, until } from '../../support/binary.ts'
import { type BotMessage, type Person, startBotApi } from '../../support/bot-api/index.ts'
import { testConfig } from '../../support/config.ts'
import { numbers } from '../resilience/support/api.ts'
import { clientOf, type Json } from '../resilience/support/client.ts'
import { openInstallation } from '../resilience/support/installation.ts'

interface Login {
  nonce: string
  deep_link: string
  match_code: string
}

type Tenant = Awaited<ReturnType<typeof newTenant>>

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())
const botApi = stack.use(startBotApi())
const settings = {
  GATEHOUSE_PASSEPARTOUT_TELEGRAM_API_ROOT: botApi.url,
  GATEHOUSE_METRICS_ENABLED: 'true',
  GATEHOUSE_LOG_LEVEL: 'debug',
}
const installation = openInstallation(stack, { settings })
const { count, dataDir, rows, running } = installation
const one = async () => (await running(1))[0] as Server

/** A tenant whose live bot is in use, and polled by one of the processes, with its API at any of them. */
async function newTenant() {
  const bot = botApi.bot({ name: 'Acme' })
  const id = installation.newTenant()
  const config = testConfig({ 'data-dir': dataDir, 'passepartout-telegram-api-root': botApi.url })
  await withNewServices(config, async ({ actor, ...services }) => {
    const owner = { tenantId: id, environment: 'live' } as const
    const bots = await services.bots()
    await bots.set(actor, owner, { token: bot.token })
    await bots.enable(actor, owner)
  })
  const { ask, make } = clientOf(installation.newClient(id, 'passepartout').key)
  await botApi.waitForPoller(bot, 10_000)

  /** Rows of the tenant in a table of the engine. */
  const countOf = (table: string, where = '1') =>
    count(`passepartout_${table} WHERE tenant_id = '${id}' AND ${where}`)
  const callsOf = (method: string) =>
    botApi.callsOf(method).filter(({ token }) => token === bot.token)

  /** The process that polls for the bot. */
  function owner(): Server | undefined {
    const [lease] = rows<{ pid: number }>(`SELECT pid FROM instances
      JOIN passepartout_bots ON lease_owner = instances.id WHERE tenant_id = '${id}'`)
    return installation.servers().find(({ pid }) => pid === lease?.pid)
  }

  /** The question, once its message is stored: a killed process would send it again. */
  async function asked(person: Person): Promise<BotMessage> {
    const question = await person.waitForMessage(bot, isQuestion, 15_000)
    await until(() => countOf('prompts', `chat_id = '${person.id}' AND message_id > 0`) > 0)
    return question
  }

  return {
    ...{ bot, countOf, callsOf, owner, asked },
    conflicts: () => callsOf('getUpdates').filter(({ status }) => status === 409).length,
    approve: async (person: Person, { match_code }: Login) =>
      person.tap(await asked(person), match_code),
    start: (server: Server): Promise<Login> =>
      make(server, 'POST', START, { client: { label: 'Shop' } }),
    status: (server: Server, { nonce }: Login, wait = 0) =>
      ask(server, 'GET', statusOf(nonce, wait)),
    introspect: (server: Server, token: string): Promise<Json> =>
      make(server, 'POST', INTROSPECT, { access_token: token }),
  }
}

const isQuestion = ({ buttons }: BotMessage): boolean => buttons.length > 0
const isOutcome = (message: BotMessage): boolean => !isQuestion(message)

/** A metric of a process. */
async function gauge({ url }: Server, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^gatehouse_${name} (\\d+)$`, 'm').exec(text)?.[1])
}

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

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'A process that ends by %s at any moment keeps no one from signing in, once, and logs no secret',
  async (signal) => {
    const server = await one()
    const tenant = await newTenant()
    const { approve, asked, bot, callsOf, start, status } = tenant
    const newcomer = async () => ({ person: botApi.person(), login: await start(server) })
    const people = {
      before: await newcomer(),
      asking: await newcomer(),
      asked: await newcomer(),
      tapping: await newcomer(),
      changing: await newcomer(),
      completed: await newcomer(),
    }
    const follow = (moment: keyof typeof people) =>
      people[moment].person.follow(people[moment].login.deep_link)
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
    const secrets = [bot.token, ...Object.values(people).map(({ login }) => login.nonce)]
    for (const secret of secrets) expect(server.out() + next.out()).not.toContain(secret)
  },
  300_000,
)

test('Three processes poll as one and answer held requests of each other; a poller that ends or is killed is replaced, and its work is done once', async () => {
  const servers = await running(3)
  const tenant = await newTenant()
  const { approve, asked, bot, callsOf, conflicts, countOf, start, status } = tenant
  const people = numbers(6).map(() => botApi.person())
  const logins = await Promise.all(people.map((_, n) => start(servers[n % 3] as Server)))
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

  const [ada, login] = [botApi.person(), await start(here)]
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
  const [marys, graces] = [await start(survivor), await start(survivor)]
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
  const logins = await Promise.all(tenants.map(({ start }) => start(awake)))
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
