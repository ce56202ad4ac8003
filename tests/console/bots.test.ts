import { expect, test } from 'bun:test'
import { usePassepartout } from '../engines/passepartout/fixture.ts'
import { newOperator } from '../support/operator.ts'
import { audited, pagesOf } from './fixture.ts'

const PAGE = '/bots'

const fixture = await usePassepartout()
const { app, botApi } = fixture
const { bots, records } = app.passepartout

/** A tenant and its owner, without bots unless given. */
async function newTenant(tenant?: { id: string }) {
  const { id: tenantId } = tenant ?? (await app.tenant())
  const operator = await newOperator(app, { roles: { [tenantId]: 'owner' } })
  const { open, send, sees } = pagesOf(app, (await operator.signIn()).cookie)
  const owner = {
    open: (path = '') => open(PAGE + path),
    sees: (path: string, ...words: string[]) => sees(PAGE + path, ...words),
    send: (path: string, fields: Record<string, string> = {}) => send(PAGE + path, fields),
  }
  const botsOf = () => Object.fromEntries(bots.list(tenantId).map((bot) => [bot.environment, bot]))
  const audit = (action: string) =>
    audited(app, action).filter((row) => row.tenant_id === tenantId && row.actor_id === operator.id)
      .length
  return { tenantId, owner, botsOf, audit }
}

async function withBots() {
  const tenant = await fixture.newTenant()
  return { ...tenant, ...(await newTenant(tenant)) }
}

test('An unknown bot is not found', async () => {
  const { owner } = await newTenant()
  expect((await owner.open('/other')).status).toBe(404)
  for (const path of ['/other/enable', '/live/disable', '/test/remove', '/test/token'])
    expect([path, (await owner.send(path, { token: 'x' })).status]).toEqual([path, 404])
})

test('A live bot is set up with a token, which is checked and never shown', async () => {
  const { owner, botsOf, audit } = await newTenant()
  await owner.sees('', 'sign in with a messenger.')
  await owner.sees('/live', '@BotFather')
  const unknown = '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
  for (const token of ['', '<script>', unknown, 'x'.repeat(10_000)]) {
    const page = await owner.send('/live/token', { token })
    expect([page.status, page.wrong, botsOf()]).toEqual([422, ['token'], {}])
    if (token !== '') page.omits(`value="${token}"`)
  }
  const bot = botApi.bot({ name: 'Acme sign-in' })
  const { location } = await owner.send('/live/token', { token: bot.token })
  expect(location).toEndWith('/live?done=bots-token.checked')
  ;(await owner.sees('/live?done=bots-token.checked', 'is disabled', 'Acme sign-in')).omits(
    bot.token,
  )
  ;(await owner.open()).omits(bot.token)
  expect(botsOf().live).toMatchObject({ enabled: false, name: 'Acme sign-in' })
  expect(audit('bot.changed')).toBe(1)
})

test('A live bot is disabled, enabled and removed', async () => {
  const { owner, botsOf, audit, bot } = await withBots()
  await owner.sees('', 'live bot is working')
  const act = async (verb: string) => {
    const { location } = await owner.send(`/live/${verb}`)
    return [location?.split('?')[1], botsOf().live?.enabled]
  }
  expect(await act('disable')).toEqual(['done=bots-disable', false])
  expect(await act('enable')).toEqual(['done=bots-enable.enabled', true])
  expect((await act('remove'))[0]).toBe('done=bots-remove')
  expect(botsOf().live).toMatchObject({ status: 'not_configured', token: null })
  for (const action of ['bot.disabled', 'bot.enabled', 'bot.removed'])
    expect([action, audit(action)]).toEqual([action, 1])
  ;(await owner.open()).omits(bot.token)
})

test('A bot is taken from another system only with confirmation, from another tenant never', async () => {
  const { owner, botsOf } = await newTenant()
  const other = await withBots()
  const { username } = other.botsOf().live ?? {}
  ;(await owner.open()).omits(`@${username}`)
  const used = await owner.send('/live/token', { token: other.bot.token })
  expect(used.says('already used by another tenant').status).toBe(422)
  expect(other.botsOf().live).toMatchObject({ enabled: true, username })
  const bot = botApi.bot()
  bot.ownedByWebhook('https://elsewhere.example/hook')
  const set = await owner.send('/live/token', { token: bot.token })
  expect(set.location).toEndWith('?done=bots-token.elsewhere')
  const refused = await owner.send('/live/enable')
  expect([refused.status, botsOf().live?.enabled]).toEqual([422, false])
  refused.says('elsewhere.example', 'name="take_over"')
  const taken = await owner.send('/live/enable', { take_over: 'true' })
  expect(taken.location).toEndWith('?done=bots-enable.taken-over')
  expect(botsOf().live?.enabled).toBe(true)
})

test('A live bot that does not work says why and what to do', async () => {
  const { tenantId, owner } = await withBots()
  ;(await owner.open('/live')).omits('How to fix it')
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
    for (const path of ['', '/live'])
      (await owner.sees(path, 'is not working: &lt;script')).omits('<script>alert')
    ;(await owner.sees('/live', words)).omits('Set up the bot')
  }
  set.run('ok', null, null, tenantId)
})

test('Settings say when a number is requested, and how messages are received', async () => {
  const { owner, botsOf, audit } = await withBots()
  const wrongMatch = { match: '<script>', transport: 'polling' }
  expect((await owner.send('/live/settings', wrongMatch)).wrong).toEqual(['match'])
  const refused = await owner.send('/live/settings', { match: 'required', transport: 'x' })
  expect([refused.status, refused.wrong]).toEqual([422, ['transport']])
  expect(refused.html).toMatch(/value="required" checked/)
  expect(botsOf().live).toMatchObject({ match: 'optional' })
  const fields = { match: 'required', transport: 'polling' }
  expect((await owner.send('/live/settings', fields)).location).toEndWith('?done=bots-settings')
  expect([botsOf().live, audit('bot.changed')]).toMatchObject([fields, 1])
  await owner.send('/test/settings', { match: 'required' })
  expect(botsOf().test).toMatchObject({ match: 'required' })
})

test('The setup of a bot is guided up to a test login', async () => {
  const { tenantId, owner } = await newTenant()
  const step = async () =>
    /aria-current="step"><p><strong>([^<]+)/.exec((await owner.open('/live')).html)?.[1]
  expect(await step()).toBe('Create a bot and paste its token')
  await owner.send('/live/token', { token: botApi.bot().token })
  expect(await step()).toBe('Enable the bot')
  await owner.send('/live/enable')
  expect(await step()).toBe('Start a test login')
  expect((await owner.send('/live/try')).location).toContain('/logins/')
  expect((await owner.send('/test/try')).status).toBe(422)
  expect((await owner.send('/test/enable')).location).toEndWith('/test?done=bots-enable.enabled')
  await owner.sees('/test', '2 of 3 done')
  const { location } = await owner.send('/test/try')
  const [, id = '', link = ''] = /\/logins\/([\w-]+)\?link=([\w-]{43})$/.exec(location ?? '') ?? []
  const login = records.get(tenantId, id)
  expect(login).toMatchObject({ state: 'pending', client_label: 'Test login' })
  const body = new URLSearchParams({ choice: login.match_code ?? '', person: 'ada' })
  await app.raw(`/sandbox/passepartout/${link}`, { method: 'POST', body })
  ;(await owner.open('/test')).omits('Set up the bot')
})
