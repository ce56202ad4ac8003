import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Role } from '../../src/console/operators/rights.ts'
import { bootPassepartout, type Fixture } from '../engines/passepartout/fixture.ts'
import { formBody } from '../support/form.ts'
import { newOperator } from '../support/operator.ts'
import { audited } from './console-fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await bootPassepartout()
})
afterAll(() => fixture.stop())

/** Somebody at the pages of bots: pages by GET, forms by POST. */
async function operator(roles: Record<string, Role>, options: { isAdmin?: boolean } = {}) {
  const { app } = fixture
  const person = await newOperator(app, { roles, ...options })
  const { headers, actIn } = await person.signIn()
  const html = { ...headers, accept: 'text/html' }
  return {
    id: person.id,
    actIn,
    see: (path = '') => app.raw(`/console/bots${path}`, { headers: html }),
    send: (path: string, fields: Record<string, string> = {}) =>
      app.raw(`/console/bots${path}`, {
        method: 'POST',
        headers: html,
        body: formBody(app, headers, fields),
      }),
  }
}

async function tenantWithoutBots() {
  const { id: tenantId } = await fixture.app.tenant()
  return { tenantId, owner: await operator({ [tenantId]: 'owner' }) }
}

async function tenantWithBots() {
  const { id: tenantId, ...tenant } = await fixture.newTenant()
  return { ...tenant, tenantId, owner: await operator({ [tenantId]: 'owner' }) }
}

const botsOf = (tenantId: string) =>
  Object.fromEntries(
    fixture.app.passepartout.bots.list(tenantId).map((bot) => [bot.environment, bot]),
  )

const placeOf = ({ headers }: { headers: Headers }) => headers.get('location')

/** What one person did in one tenant. */
const deedsOf = (tenantId: string, id: string, action: string) =>
  audited(fixture.app, action).filter((row) => row.tenant_id === tenantId && row.actor_id === id)

describe('who may do what', () => {
  const FORMS = ['/live/token', '/live/settings', '/live/enable', '/live/disable', '/live/try']

  test('everybody in the tenant looks, owners and members change, owners remove', async () => {
    const { id } = await fixture.newTenant()
    const statuses = async (role: Role) => {
      const { see, send } = await operator({ [id]: role })
      const looks = [await see(), await see('/live'), await see('/test')]
      const forms = []
      for (const form of FORMS) forms.push(await send(form))
      const removal = await send('/live/remove')
      return [looks, forms, [removal]].map((answers) => answers.map(({ status }) => status))
    }

    expect(await statuses('viewer')).toEqual([[200, 200, 200], FORMS.map(() => 403), [403]])
    const [looks, forms, removal] = await statuses('member')
    expect([looks, removal]).toEqual([[200, 200, 200], [403]])
    expect(forms).not.toContain(403)
    expect((await statuses('owner'))[2]).toEqual([303])
  })

  test('neither strangers nor whoever acts for the installation', async () => {
    const admin = await operator({}, { isAdmin: true })
    await admin.actIn(null)
    for (const path of ['', '/live', '/test']) {
      expect((await admin.see(path)).status).toBe(403)
      const answer = await fixture.app.raw(`/console/bots${path}`, {
        headers: { accept: 'text/html' },
      })
      expect([answer.status, placeOf(answer)]).toEqual([
        303,
        expect.stringContaining('/console/login?'),
      ])
    }
    for (const form of [...FORMS, '/live/remove']) expect((await admin.send(form)).status).toBe(403)
  })

  test('viewers are shown no form', async () => {
    const { id } = await fixture.newTenant()
    const viewer = await operator({ [id]: 'viewer' })
    expect((await viewer.see('/live')).body).not.toContain('/console/bots/live/')
    expect((await viewer.see()).body).not.toContain('/console/bots/live/')
  })

  test('a bot that there is not is 404', async () => {
    const { owner } = await tenantWithoutBots()
    expect((await owner.see('/other')).status).toBe(404)
    expect((await owner.send('/other/enable')).status).toBe(404)
    expect((await owner.send('/live/disable')).status).toBe(404)
    expect((await owner.send('/test/remove')).status).toBe(404)
    expect((await owner.send('/test/token', { token: 'x' })).status).toBe(404)
  })
})

describe('a live bot', () => {
  test('is set up by its token, which is checked and never shown', async () => {
    const { tenantId, owner } = await tenantWithoutBots()
    const bot = fixture.botApi.bot({ name: 'Acme sign-in' })
    expect((await owner.see()).body).toContain('sign in with a messenger.')
    expect((await owner.see('/live')).body).toContain('@BotFather')

    const answer = await owner.send('/live/token', { token: bot.token })
    expect([answer.status, placeOf(answer)]).toEqual([303, '/console/bots/live?done=checked'])
    const page = await owner.see('/live?done=checked')
    expect(page.body).toContain('is disabled')
    expect(page.body).toContain('Acme sign-in')
    expect(page.body).not.toContain(bot.token)
    expect((await owner.see()).body).not.toContain(bot.token)
    expect(botsOf(tenantId).live).toMatchObject({ enabled: false, name: 'Acme sign-in' })
    expect(deedsOf(tenantId, owner.id, 'bot.changed')).toHaveLength(1)
  })

  test.each([
    ['', 'Must be the token from BotFather'],
    ['<script>', 'Must be the token from BotFather'],
    ['123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', 'Is not the token of a Telegram bot'],
    ['x'.repeat(10_000), 'Must be the token from BotFather'],
  ])('says beside the token %# what is wrong, and does not show it again', async (token, rule) => {
    const { tenantId, owner } = await tenantWithoutBots()
    const answer = await owner.send('/live/token', { token })
    expect(answer.status).toBe(422)
    expect(answer.body).toContain('id="field-token-error"')
    expect(answer.body).toContain(rule)
    if (token !== '') expect(answer.body).not.toContain(`value="${token}"`)
    expect(answer.body).not.toContain('<script>')
    expect(botsOf(tenantId)).toEqual({})
  })

  test('is enabled, disabled and removed', async () => {
    const { tenantId, owner, bot } = await tenantWithBots()

    expect((await owner.see()).body).toContain('live bot is working')
    expect(placeOf(await owner.send('/live/disable'))).toBe('/console/bots/live?done=disabled')
    expect(botsOf(tenantId).live).toMatchObject({ enabled: false })
    expect(placeOf(await owner.send('/live/enable'))).toBe('/console/bots/live?done=enabled')
    expect(botsOf(tenantId).live).toMatchObject({ enabled: true })
    expect(placeOf(await owner.send('/live/remove'))).toBe('/console/bots?done=removed')
    expect(botsOf(tenantId).live).toMatchObject({ status: 'not_configured', token: null })
    for (const action of ['bot.disabled', 'bot.enabled', 'bot.removed'])
      expect([action, deedsOf(tenantId, owner.id, action).length]).toEqual([action, 1])
    expect((await owner.see()).body).not.toContain(bot.token)
  })

  test('that another system receives is taken over only by whoever says so', async () => {
    const { tenantId, owner } = await tenantWithoutBots()
    const bot = fixture.botApi.bot()
    bot.ownedByWebhook('https://elsewhere.example/hook')

    const set = await owner.send('/live/token', { token: bot.token })
    expect(placeOf(set)).toBe('/console/bots/live?done=elsewhere')
    const refused = await owner.send('/live/enable')
    expect(refused.status).toBe(422)
    expect(refused.body).toContain('elsewhere.example')
    expect(refused.body).toContain('name="take_over"')
    expect(botsOf(tenantId).live).toMatchObject({ enabled: false })
    const taken = await owner.send('/live/enable', { take_over: 'true' })
    expect(placeOf(taken)).toBe('/console/bots/live?done=taken-over')
    expect(botsOf(tenantId).live).toMatchObject({ enabled: true })
  })

  test('tells why it does not work', async () => {
    const { tenantId, owner } = await tenantWithBots()
    const issue = '<script>alert(1)</script>\u202eeurt'
    fixture.app.db.client
      .query(
        `UPDATE passepartout_bots SET health = 'conflict', trouble = ?, name = ?
         WHERE tenant_id = ? AND environment = 'live'`,
      )
      .run(issue, `<script>${'x'.repeat(10_000)}`, tenantId)

    for (const path of ['', '/live']) {
      const { body } = await owner.see(path)
      expect(body).toContain('is not working: &lt;script')
      expect(body).not.toContain('<script>alert')
      expect(body).not.toContain('<script>xx')
      expect(body).toEndWith('</html>')
    }
  })
})

describe('settings', () => {
  test('say when the number is asked for, and how messages come in', async () => {
    const { tenantId, owner } = await tenantWithBots()
    const answer = await owner.send('/live/settings', { match: 'required', transport: 'polling' })
    expect(placeOf(answer)).toBe('/console/bots/live?done=saved')
    expect(botsOf(tenantId).live).toMatchObject({ match: 'required', transport: 'polling' })
    expect(deedsOf(tenantId, owner.id, 'bot.changed')).toHaveLength(1)

    expect(placeOf(await owner.send('/test/settings', { match: 'required' }))).toBe(
      '/console/bots/test?done=saved',
    )
    expect(botsOf(tenantId).test).toMatchObject({ match: 'required' })
  })

  test('that are none come back, beside their field', async () => {
    const { tenantId, owner } = await tenantWithBots()
    const match = await owner.send('/live/settings', { match: '<script>', transport: 'polling' })
    expect(match.status).toBe(422)
    expect(match.body).toContain('id="field-match-error"')
    const transport = await owner.send('/live/settings', { match: 'required', transport: 'x' })
    expect(transport.body).toContain('id="field-transport-error"')
    expect(transport.body).toMatch(/value="required" checked/)
    expect(botsOf(tenantId).live).toMatchObject({ match: 'optional' })
  })
})

describe('a test login', () => {
  test('starts in the sandbox, and leads to a page with link, code and number', async () => {
    const { tenantId, owner } = await tenantWithoutBots()
    expect((await owner.send('/test/try')).status).toBe(422)
    expect(placeOf(await owner.send('/test/enable'))).toBe('/console/bots/test?done=enabled')

    const answer = await owner.send('/test/try')
    expect(answer.status).toBe(303)
    const place = placeOf(answer) ?? ''
    expect(place).toMatch(/^\/console\/logins\/[\w-]+\?link=[\w-]{43}$/)
    const { records } = fixture.app.passepartout
    const { data } = records.list({ tenantId, environment: 'test' }, { limit: 10 })
    expect(data).toMatchObject([{ state: 'pending', client_label: 'Test login' }])
    expect(place).toContain(data[0]?.id ?? '')
  })

  test('starts in Telegram, and is no other’s', async () => {
    const { owner, live } = await tenantWithBots()
    expect(placeOf(await owner.send('/live/try'))).toStartWith('/console/logins/')
    // What an app starts stays what it was.
    expect((await live.start()).deep_link).toContain('t.me')
  })
})

test('another tenant’s bot is neither shown nor touched', async () => {
  const { tenantId, bot } = await tenantWithBots()
  const { owner } = await tenantWithoutBots()
  const { username } = botsOf(tenantId).live ?? {}
  expect((await owner.see()).body).not.toContain(`@${username}`)
  const stolen = await owner.send('/live/token', { token: bot.token })
  expect([stolen.status, stolen.body]).toEqual([
    422,
    expect.stringContaining('already used by another tenant'),
  ])
  expect(botsOf(tenantId).live).toMatchObject({ enabled: true, username })
})

describe('the walk to a first sign-in', () => {
  /** The step to be done, as the page marks it. */
  const stepIn = ({ body }: { body: string }) =>
    /aria-current="step"><p><strong>([^<]+)/.exec(body)?.[1]

  test('goes step by step, and is over once somebody has come in', async () => {
    const { tenantId, owner } = await tenantWithoutBots()
    const bot = fixture.botApi.bot()
    expect(stepIn(await owner.see('/live'))).toBe('Create a bot and paste its token')
    await owner.send('/live/token', { token: bot.token })
    expect(stepIn(await owner.see('/live'))).toBe('Enable the bot')
    await owner.send('/live/enable')
    expect(stepIn(await owner.see('/live'))).toBe('Start a test login')

    await owner.send('/test/enable')
    expect((await owner.see('/test')).body).toContain('2 of 3 done')
    const place = placeOf(await owner.send('/test/try')) ?? ''
    const [, id = '', link = ''] = /logins\/([\w-]+)\?link=(.+)$/.exec(place) ?? []
    const number = fixture.app.passepartout.records.get(tenantId, id).match_code ?? ''
    await fixture.app.raw(`/sandbox/passepartout/${link}`, {
      method: 'POST',
      body: new URLSearchParams({ choice: number, person: 'ada' }),
    })
    expect((await owner.see('/test')).body).not.toContain('Set up the bot')
  })

  test('is for those who may take it', async () => {
    const { id } = await fixture.app.tenant()
    const viewer = await operator({ [id]: 'viewer' })
    expect((await viewer.see('/live')).body).not.toContain('Set up the bot')
  })
})

test.each([
  ['invalid_token', '/token to @BotFather'],
  ['conflict', '/revoke to @BotFather'],
  ['unreachable', 'must be able to reach https://api.telegram.org'],
])('a bot in trouble (%s) comes with what to do', async (health, words) => {
  const { tenantId, owner } = await tenantWithBots()
  const setHealth = fixture.app.db.client.query(
    `UPDATE passepartout_bots SET health = ? WHERE tenant_id = ? AND environment = 'live'`,
  )
  expect((await owner.see('/live')).body).not.toContain('How to fix it')
  setHealth.run(health, tenantId)
  const { body } = await owner.see('/live')
  expect(body).toContain(words)
  expect(body).not.toContain('Set up the bot')
  setHealth.run('ok', tenantId)
})
