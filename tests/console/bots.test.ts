import { expect, test } from 'bun:test'
import type { Environment } from '../../src/platform/engines.ts'
import { usePassepartout } from '../engines/passepartout/fixture.ts'
import { newOperator } from '../support/operator.ts'
import { audited, inEnvironment, pagesOf } from './fixture.ts'

const PAGE = '/bots'

const fixture = await usePassepartout()
const { app, botApi } = fixture
const { bots, queries } = app.passepartout

/** A tenant and its owner, without bots unless given. */
async function newTenant(tenant?: { id: string }) {
  const { id: tenantId } = tenant ?? (await app.tenant())
  const operator = await newOperator(app, { roles: { [tenantId]: 'owner' } })
  const { cookie } = await operator.signIn()
  /** Pages of the bot of an environment. */
  const ofBot = (environment: Environment) => {
    const { open, send, sees } = pagesOf(app, inEnvironment(cookie, environment))
    return {
      open: (query = '') => open(PAGE + query),
      sees: (...words: string[]) => sees(PAGE, ...words),
      send: (action: string, fields: Record<string, string> = {}) =>
        send(`${PAGE}/${action}`, fields),
    }
  }
  const [live, testing] = [ofBot('live'), ofBot('test')]
  const botsOf = () => Object.fromEntries(bots.list(tenantId).map((bot) => [bot.environment, bot]))
  const audit = (action: string) =>
    audited(app, action).filter((row) => row.tenant_id === tenantId && row.actor_id === operator.id)
      .length
  return { tenantId, live, testing, botsOf, audit }
}

async function withBots() {
  const tenant = await fixture.newTenant()
  return { ...tenant, ...(await newTenant(tenant)) }
}

test('A bot that is not set up cannot be disabled, and the test bot has no token', async () => {
  const { live, testing } = await newTenant()
  expect((await live.send('disable')).status).toBe(404)
  for (const action of ['remove', 'token'])
    expect([action, (await testing.send(action, { token: 'x' })).status]).toEqual([action, 404])
})

test('A live bot is set up with a token, which is checked and never shown', async () => {
  const { live, botsOf, audit } = await newTenant()
  await live.sees('sign in with a messenger.')
  await live.sees('@BotFather')
  const unknown = '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
  for (const token of ['', '<script>', unknown, 'x'.repeat(10_000)]) {
    const page = await live.send('token', { token })
    expect([page.status, page.wrong, botsOf()]).toEqual([422, ['token'], {}])
    if (token !== '') page.omits(`value="${token}"`)
  }
  const bot = botApi.bot({ name: 'Acme sign-in' })
  const { location } = await live.send('token', { token: bot.token })
  expect(location).toEndWith('/bots?done=bots-token.checked')
  ;(await live.open('?done=bots-token.checked')).omits(bot.token)
  ;(await live.open()).omits(bot.token)
  expect(botsOf().live).toMatchObject({ enabled: false, name: 'Acme sign-in' })
  expect(audit('bot.changed')).toBe(1)
})

test('A live bot is disabled, enabled and removed', async () => {
  const { live, botsOf, audit, bot } = await withBots()
  await live.sees('live bot is working')
  const act = async (verb: string) => {
    const { location } = await live.send(`${verb}`)
    return [location?.split('?')[1], botsOf().live?.enabled]
  }
  expect(await act('disable')).toEqual(['done=bots-disable', false])
  expect(await act('enable')).toEqual(['done=bots-enable.enabled', true])
  expect((await act('remove'))[0]).toBe('done=bots-remove')
  expect(botsOf().live).toMatchObject({ status: 'not_configured', token: null })
  for (const action of ['bot.disabled', 'bot.enabled', 'bot.removed'])
    expect([action, audit(action)]).toEqual([action, 1])
  ;(await live.open()).omits(bot.token)
})

test('A bot is taken from another system only with confirmation, from another tenant never', async () => {
  const { live, botsOf } = await newTenant()
  const other = await withBots()
  const { username } = other.botsOf().live ?? {}
  ;(await live.open()).omits(`@${username}`)
  const used = await live.send('token', { token: other.bot.token })
  expect(used.says('already used by another tenant').status).toBe(422)
  expect(other.botsOf().live).toMatchObject({ enabled: true, username })
  const bot = botApi.bot()
  bot.ownedByWebhook('https://elsewhere.example/hook')
  const set = await live.send('token', { token: bot.token })
  expect(set.location).toEndWith('?done=bots-token.elsewhere')
  const refused = await live.send('enable')
  expect([refused.status, botsOf().live?.enabled]).toEqual([422, false])
  refused.says('elsewhere.example', 'name="take_over"')
  const taken = await live.send('enable', { take_over: 'true' })
  expect(taken.location).toEndWith('?done=bots-enable.taken-over')
  expect(botsOf().live?.enabled).toBe(true)
})

test('A live bot that does not work says why and what to do', async () => {
  const { tenantId, live } = await withBots()
  ;(await live.open()).omits('How to fix it')
  const set = app.db.client.query(
    `UPDATE passepartout_bots SET health = ?, trouble = ?, name = ?
     WHERE tenant_id = ? AND environment = 'live'`,
  )
  for (const [health, words] of [
    ['invalid_token', '/token to @BotFather'],
    ['conflict', '/revoke to @BotFather'],
    ['unreachable', 'must be able to reach https://api.telegram.org'],
  ] as const) {
    set.run(health, '<script>alert(1)</script>\u202eeurt', '<script>alert(2)</script>', tenantId)
    ;(await live.sees('is not working: &lt;script')).omits('<script>alert')
    ;(await live.sees(words)).omits('Set up the bot')
  }
  set.run('ok', null, null, tenantId)
})

test('Settings say when a number is requested, and how messages are received', async () => {
  const { live, testing, botsOf, audit } = await withBots()
  const wrongMatch = { match: '<script>', transport: 'polling' }
  expect((await live.send('settings', wrongMatch)).wrong).toEqual(['match'])
  const refused = await live.send('settings', { match: 'required', transport: 'x' })
  expect([refused.status, refused.wrong]).toEqual([422, ['transport']])
  expect(refused.html).toMatch(/value="required" checked/)
  expect(botsOf().live).toMatchObject({ match: 'optional' })
  const fields = { match: 'required', transport: 'polling' }
  expect((await live.send('settings', fields)).location).toEndWith('?done=bots-settings')
  expect([botsOf().live, audit('bot.changed')]).toMatchObject([fields, 1])
  await testing.send('settings', { match: 'required' })
  expect(botsOf().test).toMatchObject({ match: 'required' })
})

test('The setup of a bot is guided up to a test login', async () => {
  const { tenantId, live, testing } = await newTenant()
  const step = async () =>
    /aria-current="step"><p><strong>([^<]+)/.exec((await live.open()).html)?.[1]
  expect(await step()).toBe('Create a bot and paste its token')
  await live.send('token', { token: botApi.bot().token })
  expect(await step()).toBe('Enable the bot')
  await live.send('enable')
  expect(await step()).toBe('Start a test login')
  expect((await live.send('try')).location).toContain('/logins/')
  expect((await testing.send('try')).status).toBe(422)
  expect((await testing.send('enable')).location).toEndWith('/bots?done=bots-enable.enabled')
  await testing.sees('2 of 3 done')
  const { location } = await testing.send('try')
  const [, id = '', link = ''] = /\/logins\/([\w-]+)\?link=([\w-]{43})$/.exec(location ?? '') ?? []
  const login = queries.get({ tenantId, environment: 'test' }, id)
  expect(login).toMatchObject({ state: 'pending', client_label: 'Test login' })
  const body = new URLSearchParams({ choice: login.match_code ?? '', person: 'ada' })
  await app.raw(`/sandbox/passepartout/${link}`, { method: 'POST', body })
  ;(await testing.open()).omits('Set up the bot')
})
