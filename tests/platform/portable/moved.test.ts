import { afterAll, expect, test } from 'bun:test'
import { gateOf } from '../../engines/gate/fixture.ts'
import { CODES, withToken } from '../../engines/gate/sign-in/flows/acts.ts'
import { bootFlows, flowsOf, PASSWORD, totpAt } from '../../engines/gate/sign-in/flows/fixture.ts'
import { bootTestApp } from '../../support/app.ts'
import { startBotApi } from '../../support/bot-api/index.ts'
import { ACTOR, exportOf, importInto, rowsIn } from './fixture.ts'
import { contentOf, fileOf, type Line, ofKind } from './lines.ts'

const ADA = 'ada@example.com'
const BOB = 'bob@example.com'
const CUSTOM_DATA = { plan: 'gold', ünïcode: ['☃', 1.5, null] }

async function furnish(botUrl: string) {
  const flags = { 'passepartout-telegram-api-root': botUrl, 'gate-password-memory': '8MB' }
  const gate = await bootFlows({ flags })
  const { app, acme, api } = gate
  const relay = (await acme.key('relay', 'live')).key
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
  await gate.createWebhook('https://example.com/webhook')
  const { post } = acme.api
  const url = 'https://example.com/'
  const nightly = { name: 'nightly', schedule: '0 12 * * *', url, body: 'hello "you"\n' }
  const headers = { authorization: 'Bearer t0ken' }
  const cron = await post('/v1/clockwork/jobs', { ...nightly, headers })
  const paused = { name: 'paused', schedule: '* * * * *', url, is_active: false }
  await post('/v1/clockwork/jobs', paused)
  const run_at = '2026-03-02T12:00:00Z'
  const delayed = await post('/v1/clockwork/delayed', { name: 'later', run_at, url })
  const filter = { event_types: ['order.*'], channels: ['eu'], headers: { 'x-own': 'value' } }
  const created = await app.client(relay).post('/v1/relay/endpoints', { url, ...filter })
  expect([cron.status, delayed.status, created.status]).toEqual([201, 201, 201])
  return { app, flags, tenantId: acme.id, key: gate.key, secret }
}

const botApi = startBotApi()
const before = await furnish(botApi.url)
const { tenantId, key } = before
const owner = { tenantId, environment: 'live' } as const
await before.app.passepartout.bots.set(ACTOR, owner, { token: botApi.bot({ name: 'Acme' }).token })
await before.app.passepartout.bots.enable(ACTOR, owner)
const lines = exportOf(before.app, tenantId)
await before.app.stop()
// Later, because a code of the authenticator works once.
const home = await bootTestApp({ flags: before.flags, start: '2026-03-02T12:00:00.000Z' })
const imported = await importInto(home, fileOf(lines))
const again = exportOf(home, tenantId)
afterAll(async () => {
  await home.stop()
  await botApi[Symbol.asyncDispose]()
})

test('The import reports its rows and what it left out, and is audited', () => {
  const counts = { tenant: 1, identity: 2, address: 2, cron_job: 2, delayed_job: 1, bot: 1 }
  const leftOut = { recovery_codes: 1 }
  expect(imported).toMatchObject({ counts, alreadyThere: 0, leftOut, notes: {} })
  const rows = rowsIn(home, 'audit_log').filter(({ action }) => action === 'tenant.imported')
  expect(rows).toMatchObject([{ object: `tenant:${tenantId}` }])
  expect(JSON.parse(rows[0].detail)).toMatchObject({ counts: { identity: 2 } })
  const tenant = { name: 'Acme', plan: 'unlimited', status: 'active' }
  expect(home.platform.tenants.find(tenantId)).toMatchObject(tenant)
})

const isCodes = ({ type }: Line) => type === 'lookup_secret'

test('An export of the imported tenant is the same, without secrets of this installation', async () => {
  expect(ofKind(lines, 'credential').filter(isCodes)).toHaveLength(1)
  expect(contentOf(again)).toEqual(contentOf(lines).filter((line) => !isCodes(line)))
  expect(JSON.stringify(lines)).not.toContain('s1.')
  // With the same fingerprints, the recovery codes are imported too.
  await using same = await bootTestApp({ flags: before.flags })
  const { sealing } = before.app.platform
  const { leftOut } = await importInto(same, fileOf(lines), { sealing })
  expect(leftOut).toEqual({ recovery_codes: 0 })
  expect(contentOf(exportOf(same, tenantId, sealing))).toEqual(contentOf(lines))
})

test('A tenant that moved has its people, who sign in with password and authenticator', async () => {
  const api = home.client(key)
  const gate = { ...gateOf(home, api), ...flowsOf(home, { tenantId, key, api }) }
  const { continue_with } = await gate.signIn(ADA)
  const redirect = continue_with.find(({ action }: Line) => action === 'redirect_browser_to')
  const { body: flow } = await gate.read(redirect.redirect_browser_to)
  const totp_code = totpAt(before.secret, home.clock.now())
  expect(await gate.send(flow, { method: 'totp', totp_code })).toMatchObject({ status: 200 })
  expect(await gate.tryPassword(ADA, `${PASSWORD}!`)).not.toMatchObject({ status: 200 })
  const { body } = await api.get('/v1/gate/identities')
  expect(body.data).toHaveLength(2)
  const bob = body.data.find(({ traits }: Line) => traits.email === BOB)
  expect(bob.traits).toMatchObject({ custom_data: CUSTOM_DATA })
  expect(bob.metadata_public).toEqual({ roles: ['admin'] })
})
