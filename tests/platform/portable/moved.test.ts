import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { gateOf } from '../../engines/gate/fixture.ts'
import { CODES, withToken } from '../../engines/gate/sign-in/flows/acts.ts'
import { bootFlows, flowsOf, PASSWORD, totpAt } from '../../engines/gate/sign-in/flows/fixture.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { startBotApi } from '../../support/bot-api/index.ts'
import { startTarget, type Target } from '../../support/target.ts'
import { ACTOR, contentOf, exportOf, fileOf, importInto, type Line, ofKind } from './fixture.ts'

const ADA = 'ada@example.com'
const BOB = 'bob@example.com'
const RELAY_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** A tenant that uses all four engines, made with their APIs. */
async function furnish(botApi: ReturnType<typeof startBotApi>, target: Target) {
  const flags = { 'passepartout-telegram-api-root': botApi.url, 'gate-password-memory': '8MB' }
  const fixture = await bootFlows({ flags })
  const { app, acme, api } = fixture
  const relayKey = (await acme.key('relay', 'live')).key
  const passepartoutKey = (await acme.key('passepartout', 'live')).key
  await fixture.security({ mfa_enabled: true })
  const policies = 'permit (principal, action, resource is Document);'
  await api.put('/v1/gate/settings/policies', { policies })

  const { session_token: token } = await fixture.register(ADA)
  const secret = await fixture.enrol(token)
  const kept = await fixture.settings(token)
  await fixture.sendWell(kept, CODES.make, withToken(token))
  await fixture.sendWell(kept, CODES.keep, withToken(token))
  await fixture.createIdentity({
    traits: { email: BOB, custom_data: { plan: 'gold', ünïcode: ['☃', 1.5, null] } },
    metadata_public: { roles: ['admin'] },
  })
  await fixture.createWebhook(target.url)

  const cron = await acme.api.post('/v1/clockwork/jobs', {
    name: 'nightly',
    schedule: '15 3 * * *',
    url: target.url,
    headers: { authorization: 'Bearer t0ken' },
    body: 'hello "you"\n',
  })
  await acme.api.post('/v1/clockwork/jobs', {
    name: 'paused',
    schedule: '* * * * *',
    url: target.url,
    is_active: false,
  })
  const delayed = await acme.api.post('/v1/clockwork/delayed', {
    name: 'later',
    run_at: '2026-03-02T12:00:00Z',
    url: target.url,
  })
  const endpoint = await app
    .client(relayKey)
    .post('/v1/relay/endpoints', {
      url: target.url,
      secret: RELAY_SECRET,
      event_types: ['order.*'],
      channels: ['eu'],
      headers: { 'x-own': 'value' },
    })
  const bot = botApi.bot({ name: 'Acme' })
  const owner = { tenantId: acme.id, environment: 'live' } as const
  await app.passepartout.bots.set(ACTOR, owner, { token: bot.token })
  await app.passepartout.bots.enable(ACTOR, owner)

  expect([cron.status, delayed.status, endpoint.status]).toEqual([201, 201, 201])
  return {
    fixture,
    app,
    flags,
    tenantId: acme.id,
    keys: { gate: fixture.key, clockwork: acme.secret, relay: relayKey, passepartoutKey },
    secret,
    cron: cron.body,
    delayed: delayed.body,
    endpoint: endpoint.body,
  }
}

describe('a tenant that has moved to an installation with another master key', () => {
  let botApi: ReturnType<typeof startBotApi>
  let target: Target
  let before: Awaited<ReturnType<typeof furnish>>
  let home: TestApp
  let lines: Line[]
  let imported: Awaited<ReturnType<typeof importInto>>

  beforeAll(async () => {
    botApi = startBotApi()
    target = await startTarget()
    before = await furnish(botApi, target)
    lines = exportOf(before.app, before.tenantId)
    await before.app.stop()
    home = await bootTestApp({ flags: before.flags, start: '2026-03-01T18:00:00.000Z' })
    imported = await importInto(home, fileOf(lines))
  })
  afterAll(async () => {
    await home.stop()
    await botApi[Symbol.asyncDispose]()
    await target.stop()
  })

  const gateNow = () => {
    const key = before.keys.gate
    const gate = gateOf(home, home.client(key))
    return { ...gate, ...flowsOf(home, { tenantId: before.tenantId, key, api: gate.api }) }
  }

  test('is told of by the report', () => {
    expect(imported).toMatchObject({
      counts: { tenant: 1, identity: 2, address: 2, cron_job: 2, delayed_job: 1, bot: 1 },
      alreadyThere: 0,
      leftOut: { recovery_codes: 1 },
      notes: {},
    })
  })

  test('is active, with its plan', () => {
    expect(home.platform.tenants.find(before.tenantId)).toMatchObject({
      name: 'Acme',
      plan: 'unlimited',
      status: 'active',
    })
  })

  test('has people who sign in with the password and the authenticator that they have', async () => {
    const gate = gateNow()
    const signedIn = await gate.signIn(ADA)
    const url = signedIn.continue_with.find(
      ({ action }: Line) => action === 'redirect_browser_to',
    ).redirect_browser_to
    const { body: flow } = await gate.read(url)
    const totp_code = totpAt(before.secret, home.clock.now())
    expect(await gate.send(flow, { method: 'totp', totp_code })).toMatchObject({ status: 200 })
    expect(await gate.tryPassword(ADA, `${PASSWORD}!`)).not.toMatchObject({ status: 200 })
  })

  test('has what was known of them', async () => {
    const { body } = await home.client(before.keys.gate).get('/v1/gate/identities')
    const bob = body.data.find(({ traits }: Line) => traits.email === BOB)
    expect(bob).toMatchObject({
      traits: { custom_data: { plan: 'gold', ünïcode: ['☃', 1.5, null] } },
      metadata_public: { roles: ['admin'] },
    })
    expect(body.data).toHaveLength(2)
  })

  test('has its jobs, which go on with the next slot', async () => {
    const clockwork = home.client(before.keys.clockwork)
    const { body: jobs } = await clockwork.get('/v1/clockwork/jobs')
    expect(jobs).toContainEqual({ ...before.cron, next_run_at: '2026-03-02T03:15:00.000Z' })
    expect(jobs).toHaveLength(2)
    const { body: waiting } = await clockwork.get('/v1/clockwork/delayed')
    expect(waiting).toEqual([before.delayed])
  })

  test('has endpoints that are told of events with the secret and headers of before', async () => {
    const sent = await home
      .client(before.keys.relay)
      .post('/v1/relay/messages', {
        event_type: 'order.paid',
        channels: ['eu'],
        payload: { id: 1 },
      })
    expect(sent).toMatchObject({ status: 202 })
    await home.clock.advance(5000)

    const received = target.requests.find(({ headers }) => headers.get('x-own') === 'value')
    const headers = Object.fromEntries(received?.headers ?? [])
    const webhook = new Webhook(RELAY_SECRET)
    const signedAt = new Date(Number(headers['webhook-timestamp']) * 1000)
    expect(webhook.sign(headers['webhook-id'] ?? '', signedAt, received?.body ?? '')).toBe(
      headers['webhook-signature'] ?? '',
    )
  })

  test('has its bot, which listens', async () => {
    const [bot] = home.passepartout.bots.list(before.tenantId)
    expect(bot).toMatchObject({ environment: 'live', enabled: true })
    const started = await home
      .client(before.keys.passepartoutKey)
      .post('/v1/passepartout/login/start', {})
    expect(started.status).toBe(200)
  })

  test('is on record', () => {
    const rows = home.db.client
      .query("select action, object, detail from audit_log where action = 'tenant.imported'")
      .all() as Line[]
    expect(rows).toHaveLength(1)
    expect(rows[0].object).toBe(`tenant:${before.tenantId}`)
    expect(JSON.parse(rows[0].detail)).toMatchObject({ counts: { identity: 2 } })
  })
})

describe('an export of what was imported', () => {
  test('says the same as the one before', async () => {
    await using moved = await move()
    const { lines, again } = moved
    const isCodes = ({ type }: Line) => type === 'lookup_secret'

    expect(ofKind(lines, 'credential').filter(isCodes)).toHaveLength(1)
    expect(contentOf(again)).toEqual(contentOf(lines).filter((line) => !isCodes(line)))
    expect(JSON.stringify(lines)).not.toContain('s1.')
  })

  test('has the recovery codes too where fingerprints come out the same', async () => {
    await using moved = await move({ isSameKey: true })
    expect(contentOf(moved.again)).toEqual(contentOf(moved.lines))
    expect(moved.imported.leftOut).toEqual({ recovery_codes: 0 })
  })

  async function move({ isSameKey = false } = {}) {
    const botApi = startBotApi()
    const target = await startTarget()
    const { app, tenantId, flags } = await furnish(botApi, target)
    const home = await bootTestApp({ flags })
    const { sealing } = (isSameKey ? app : home).platform
    const lines = exportOf(app, tenantId)
    await app.stop()
    const imported = await importInto(home, fileOf(lines), { sealing })
    const again = exportOf(home, tenantId, sealing)
    await home.stop()
    await botApi[Symbol.asyncDispose]()
    return { lines, again, imported, [Symbol.asyncDispose]: () => target.stop() }
  }
})
