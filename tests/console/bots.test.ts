import { describe, expect, test } from 'bun:test'
import type { Role } from '../../src/console/operators/rights.ts'
import { usePassepartout } from '../engines/passepartout/fixture.ts'
import { newOperator } from '../support/operator.ts'
import { audited, pagesOf } from './fixture.ts'

const PAGE = '/console/bots'

const fixture = await usePassepartout()
const { app, botApi } = fixture
const { bots, records } = app.passepartout

/** A tenant and its owner, without bots unless given. */
async function newTenant(tenant?: { id: string }) {
  const { id: tenantId } = tenant ?? (await app.tenant())
  const as = async (role: Role) => {
    const operator = await newOperator(app, { roles: { [tenantId]: role } })
    const { open, send } = pagesOf(app, (await operator.signIn()).cookie)
    return {
      id: operator.id,
      open: (path = '') => open(PAGE + path),
      send: (path: string, fields: Record<string, string> = {}) => send(PAGE + path, fields),
    }
  }
  const owner = await as('owner')
  const botsOf = () => Object.fromEntries(bots.list(tenantId).map((bot) => [bot.environment, bot]))
  const audit = (action: string) =>
    audited(app, action).filter((row) => row.tenant_id === tenantId && row.actor_id === owner.id)
      .length
  return { tenantId, owner, as, botsOf, audit }
}

async function withBots() {
  const tenant = await fixture.newTenant()
  return { ...tenant, ...(await newTenant(tenant)) }
}

test('Viewers are shown no forms, and unknown bots are not found', async () => {
  const { as } = await withBots()
  const viewer = await as('viewer')
  for (const path of ['', '/live'])
    expect((await viewer.open(path)).html).not.toContain(`${PAGE}/live/`)
  const { owner } = await newTenant()
  expect((await owner.open('/other')).status).toBe(404)
  for (const path of ['/other/enable', '/live/disable', '/test/remove', '/test/token'])
    expect([path, (await owner.send(path, { token: 'x' })).status]).toEqual([path, 404])
})

describe('A live bot', () => {
  test('is set up with a token, which is checked and never shown', async () => {
    const { owner, botsOf, audit } = await newTenant()
    const bot = botApi.bot({ name: 'Acme sign-in' })
    expect((await owner.open()).text).toContain('sign in with a messenger.')
    expect((await owner.open('/live')).text).toContain('@BotFather')
    const { location } = await owner.send('/live/token', { token: bot.token })
    expect(location).toBe(`${PAGE}/live?done=checked`)
    const { text, html } = await owner.open('/live?done=checked')
    for (const words of ['is disabled', 'Acme sign-in']) expect(text).toContain(words)
    for (const page of [html, (await owner.open()).html]) expect(page).not.toContain(bot.token)
    expect(botsOf().live).toMatchObject({ enabled: false, name: 'Acme sign-in' })
    expect(audit('bot.changed')).toBe(1)
  })

  test.each(['', '<script>', '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', 'x'.repeat(10_000)])(
    'is refused with a wrong token, which is not shown again (%#)',
    async (token) => {
      const { owner, botsOf } = await newTenant()
      const { status, wrong, html } = await owner.send('/live/token', { token })
      expect([status, wrong, botsOf()]).toEqual([422, ['token'], {}])
      if (token !== '') expect(html).not.toContain(`value="${token}"`)
    },
  )

  test('is disabled, enabled and removed', async () => {
    const { owner, botsOf, audit, bot } = await withBots()
    expect((await owner.open()).text).toContain('live bot is working')
    const act = async (verb: string) => {
      const { location } = await owner.send(`/live/${verb}`)
      return [location, botsOf().live?.enabled]
    }
    expect(await act('disable')).toEqual([`${PAGE}/live?done=disabled`, false])
    expect(await act('enable')).toEqual([`${PAGE}/live?done=enabled`, true])
    expect((await act('remove'))[0]).toBe(`${PAGE}?done=removed`)
    expect(botsOf().live).toMatchObject({ status: 'not_configured', token: null })
    for (const action of ['bot.disabled', 'bot.enabled', 'bot.removed'])
      expect([action, audit(action)]).toEqual([action, 1])
    expect((await owner.open()).html).not.toContain(bot.token)
  })

  test('used by another system is taken over only with confirmation', async () => {
    const { owner, botsOf } = await newTenant()
    const bot = botApi.bot()
    bot.ownedByWebhook('https://elsewhere.example/hook')
    const set = await owner.send('/live/token', { token: bot.token })
    expect(set.location).toBe(`${PAGE}/live?done=elsewhere`)
    const refused = await owner.send('/live/enable')
    expect([refused.status, botsOf().live?.enabled]).toEqual([422, false])
    for (const part of ['elsewhere.example', 'name="take_over"'])
      expect(refused.html).toContain(part)
    const taken = await owner.send('/live/enable', { take_over: 'true' })
    expect([taken.location, botsOf().live?.enabled]).toEqual([`${PAGE}/live?done=taken-over`, true])
  })

  test('of another tenant is neither shown nor taken', async () => {
    const { bot, botsOf } = await withBots()
    const { username } = botsOf().live ?? {}
    const { owner } = await newTenant()
    expect((await owner.open()).text).not.toContain(`@${username}`)
    const { status, text } = await owner.send('/live/token', { token: bot.token })
    expect([status, text]).toEqual([422, expect.stringContaining('already used by another tenant')])
    expect(botsOf().live).toMatchObject({ enabled: true, username })
  })

  test.each([
    ['invalid_token', '/token to @BotFather'],
    ['conflict', '/revoke to @BotFather'],
    ['unreachable', 'must be able to reach https://api.telegram.org'],
  ])('that does not work (%s) says why and what to do', async (health, words) => {
    const { tenantId, owner } = await withBots()
    expect((await owner.open('/live')).text).not.toContain('How to fix it')
    const set = app.db.client.query(
      `UPDATE passepartout_bots SET health = ?, trouble = ?, name = ?
       WHERE tenant_id = ? AND environment = 'live'`,
    )
    set.run(health, '<script>alert(1)</script>\u202eeurt', '<script>alert(2)</script>', tenantId)
    const { text } = await owner.open('/live')
    expect(text).toContain(words)
    expect(text).not.toContain('Set up the bot')
    for (const path of ['', '/live']) {
      const { html } = await owner.open(path)
      expect(html).toContain('is not working: &lt;script')
      expect(html).not.toContain('<script>alert')
    }
    set.run('ok', null, null, tenantId)
  })
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
  expect((await owner.send('/live/settings', fields)).location).toBe(`${PAGE}/live?done=saved`)
  expect([botsOf().live, audit('bot.changed')]).toMatchObject([fields, 1])
  await owner.send('/test/settings', { match: 'required' })
  expect(botsOf().test).toMatchObject({ match: 'required' })
})

test('The setup of a bot is guided up to a test login', async () => {
  const { tenantId, owner, as } = await newTenant()
  const step = async () =>
    /aria-current="step"><p><strong>([^<]+)/.exec((await owner.open('/live')).html)?.[1]
  expect((await (await as('viewer')).open('/live')).text).not.toContain('Set up the bot')
  expect(await step()).toBe('Create a bot and paste its token')
  await owner.send('/live/token', { token: botApi.bot().token })
  expect(await step()).toBe('Enable the bot')
  await owner.send('/live/enable')
  expect(await step()).toBe('Start a test login')
  expect((await owner.send('/live/try')).location).toStartWith('/console/logins/')

  expect((await owner.send('/test/try')).status).toBe(422)
  expect((await owner.send('/test/enable')).location).toBe(`${PAGE}/test?done=enabled`)
  expect((await owner.open('/test')).text).toContain('2 of 3 done')
  const { location } = await owner.send('/test/try')
  const [, id = '', link = ''] =
    /^\/console\/logins\/([\w-]+)\?link=([\w-]{43})$/.exec(location ?? '') ?? []
  const login = records.get(tenantId, id)
  expect(login).toMatchObject({ state: 'pending', client_label: 'Test login' })
  const body = new URLSearchParams({ choice: login.match_code ?? '', person: 'ada' })
  await app.raw(`/sandbox/passepartout/${link}`, { method: 'POST', body })
  expect((await owner.open('/test')).text).not.toContain('Set up the bot')
})
