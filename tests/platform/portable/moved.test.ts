import { afterAll, describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { gateOf } from '../../engines/gate/fixture.ts'
import { CODES, withToken } from '../../engines/gate/sign-in/flows/acts.ts'
import { bootFlows, flowsOf, PASSWORD, totpAt } from '../../engines/gate/sign-in/flows/fixture.ts'
import { bootTestApp } from '../../support/app.ts'
import { startBotApi } from '../../support/bot-api/index.ts'
import { startTarget } from '../../support/target.ts'
import {
  ACTOR,
  contentOf,
  exportOf,
  fileOf,
  importInto,
  type Line,
  ofKind,
  rowsIn,
} from './fixture.ts'

const ADA = 'ada@example.com'
const BOB = 'bob@example.com'
const RELAY_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const CUSTOM_DATA = { plan: 'gold', ünïcode: ['☃', 1.5, null] }

/** A tenant that uses all four engines. */
async function furnish(botUrl: string, url: string) {
  const flags = { 'passepartout-telegram-api-root': botUrl, 'gate-password-memory': '8MB' }
  const gate = await bootFlows({ flags })
  const { app, acme, api } = gate
  const relay = (await acme.key('relay', 'live')).key
  const passepartout = (await acme.key('passepartout', 'live')).key
  await gate.security({ mfa_enabled: true })
  const policies = 'permit (principal, action, resource is Document);'
  await api.put('/v1/gate/settings/policies', { policies })
  const { session_token: token } = await gate.register(ADA)
  const secret = await gate.enrol(token)
  const flow = await gate.settings(token)
  await gate.sendWell(flow, CODES.make, withToken(token))
  await gate.sendWell(flow, CODES.keep, withToken(token))
  const traits = { email: BOB, custom_data: CUSTOM_DATA }
  await gate.createIdentity({ traits, metadata_public: { roles: ['admin'] } })
  await gate.createWebhook(url)
  const { post } = acme.api
  const nightly = { name: 'nightly', schedule: '15 3 * * *', url, body: 'hello "you"\n' }
  const headers = { authorization: 'Bearer t0ken' }
  const cron = await post('/v1/clockwork/jobs', { ...nightly, headers })
  const paused = { name: 'paused', schedule: '* * * * *', url, is_active: false }
  await post('/v1/clockwork/jobs', paused)
  const run_at = '2026-03-02T12:00:00Z'
  const delayed = await post('/v1/clockwork/delayed', { name: 'later', run_at, url })
  const filter = { event_types: ['order.*'], channels: ['eu'], headers: { 'x-own': 'value' } }
  const endpoint = { url, secret: RELAY_SECRET, ...filter }
  const created = await app.client(relay).post('/v1/relay/endpoints', endpoint)
  expect([cron.status, delayed.status, created.status]).toEqual([201, 201, 201])
  return {
    app,
    flags,
    tenantId: acme.id,
    keys: { gate: gate.key, clockwork: acme.secret, relay, passepartout },
    secret,
    cron: cron.body,
    delayed: delayed.body,
  }
}

const botApi = startBotApi()
const target = startTarget()
const before = await furnish(botApi.url, target.url)
const { tenantId, keys } = before
const owner = { tenantId, environment: 'live' } as const
await before.app.passepartout.bots.set(ACTOR, owner, { token: botApi.bot({ name: 'Acme' }).token })
await before.app.passepartout.bots.enable(ACTOR, owner)
const lines = exportOf(before.app, tenantId)
await before.app.stop()
const home = await bootTestApp({ flags: before.flags, start: '2026-03-01T18:00:00.000Z' })
const imported = await importInto(home, fileOf(lines))
const again = exportOf(home, tenantId)
afterAll(async () => {
  await home.stop()
  await botApi[Symbol.asyncDispose]()
  await target.stop()
})

test('The import reports its rows and what it left out, and is audited', () => {
  expect(imported).toMatchObject({
    counts: { tenant: 1, identity: 2, address: 2, cron_job: 2, delayed_job: 1, bot: 1 },
    alreadyThere: 0,
    leftOut: { recovery_codes: 1 },
    notes: {},
  })
  const rows = rowsIn(home, 'audit_log').filter(({ action }) => action === 'tenant.imported')
  expect(rows).toMatchObject([{ object: `tenant:${tenantId}` }])
  expect(JSON.parse(rows[0].detail)).toMatchObject({ counts: { identity: 2 } })
})

const isCodes = ({ type }: Line) => type === 'lookup_secret'

test('An export of the imported tenant is the same, without secrets of this installation', () => {
  expect(ofKind(lines, 'credential').filter(isCodes)).toHaveLength(1)
  expect(contentOf(again)).toEqual(contentOf(lines).filter((line) => !isCodes(line)))
  expect(JSON.stringify(lines)).not.toContain('s1.')
})

test('With the same fingerprints, the recovery codes are imported too', async () => {
  await using same = await bootTestApp({ flags: before.flags })
  const { sealing } = before.app.platform
  const { leftOut } = await importInto(same, fileOf(lines), { sealing })
  expect(leftOut).toEqual({ recovery_codes: 0 })
  expect(contentOf(exportOf(same, tenantId, sealing))).toEqual(contentOf(lines))
})

describe('A tenant that moved to another installation', () => {
  test('is active, with its plan', () => {
    const tenant = { name: 'Acme', plan: 'unlimited', status: 'active' }
    expect(home.platform.tenants.find(tenantId)).toMatchObject(tenant)
  })

  test('has its people, who sign in with their password and authenticator', async () => {
    const key = keys.gate
    const api = home.client(key)
    const gate = { ...gateOf(home, api), ...flowsOf(home, { tenantId, key, api }) }
    const signedIn = await gate.signIn(ADA)
    const { redirect_browser_to: url } = signedIn.continue_with.find(
      ({ action }: Line) => action === 'redirect_browser_to',
    )
    const { body: flow } = await gate.read(url)
    const totp_code = totpAt(before.secret, home.clock.now())
    expect(await gate.send(flow, { method: 'totp', totp_code })).toMatchObject({ status: 200 })
    expect(await gate.tryPassword(ADA, `${PASSWORD}!`)).not.toMatchObject({ status: 200 })
    const { body } = await api.get('/v1/gate/identities')
    expect(body.data).toHaveLength(2)
    const bob = body.data.find(({ traits }: Line) => traits.email === BOB)
    expect(bob.traits).toMatchObject({ custom_data: CUSTOM_DATA })
    expect(bob.metadata_public).toEqual({ roles: ['admin'] })
  })

  test('has its jobs, which run at their next time', async () => {
    const clockwork = home.client(keys.clockwork)
    const { body: jobs } = await clockwork.get('/v1/clockwork/jobs')
    expect(jobs).toContainEqual({ ...before.cron, next_run_at: '2026-03-02T03:15:00.000Z' })
    expect(jobs).toHaveLength(2)
    const { body: waiting } = await clockwork.get('/v1/clockwork/delayed')
    expect(waiting).toEqual([before.delayed])
  })

  test('has its endpoints, with their secrets and headers', async () => {
    const event = { event_type: 'order.paid', channels: ['eu'], payload: { id: 1 } }
    const sent = await home.client(keys.relay).post('/v1/relay/messages', event)
    expect(sent).toMatchObject({ status: 202 })
    await home.clock.advance(5000)
    const received = target.requests.find(({ headers }) => headers.get('x-own') === 'value')
    const headers = Object.fromEntries(received?.headers ?? [])
    const signedAt = new Date(Number(headers['webhook-timestamp']) * 1000)
    const webhook = new Webhook(RELAY_SECRET)
    expect(webhook.sign(`${headers['webhook-id']}`, signedAt, `${received?.body}`)).toBe(
      `${headers['webhook-signature']}`,
    )
  })

  test('has its bot, which works', async () => {
    const bot = { environment: 'live', enabled: true }
    expect(home.passepartout.bots.list(tenantId)).toMatchObject([bot])
    const { post } = home.client(keys.passepartout)
    expect(await post('/v1/passepartout/login/start', {})).toMatchObject({ status: 200 })
  })
})
