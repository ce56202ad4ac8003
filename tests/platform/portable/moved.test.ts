import { expect, test } from 'bun:test'
import { gateOf } from '../../engines/gate/fixture.ts'
import { CODES, withToken } from '../../engines/gate/sign-in/flows/acts.ts'
import { bootFlows, flowsOf, PASSWORD, totpAt } from '../../engines/gate/sign-in/flows/fixture.ts'
import { bootTestApp } from '../../support/app.ts'
import { startBotApi } from '../../support/bot-api/index.ts'
import { png } from '../branding/images.ts'
import { ACTOR, exportOf, importInto, rowsIn } from './fixture.ts'
import { contentOf, fileOf, type Line, ofKind } from './lines.ts'

const ADA = 'ada@example.com'
const MOVED =
  'A tenant that moved is the same but for secrets of its old installation, and people sign in'
const isCodes = ({ type }: Line) => type === 'lookup_secret'

/** A tenant with something of each kind, whose Ada has an authenticator and recovery codes. */
async function furnish(botApi: ReturnType<typeof startBotApi>) {
  const flags = { 'passepartout-telegram-api-root': botApi.url, 'gate-password-memory': '8MB' }
  const gate = await bootFlows({ flags })
  const { app, acme, api, key } = gate
  await gate.security({ mfa_enabled: true })
  const policies = 'permit (principal, action, resource is Document);'
  await api.put('/v1/gate/settings/policies', { policies })
  await api.put('/v1/gate/settings/sessions', {
    lifetime_seconds: 7200,
    idle_timeout_seconds: 3600,
  })
  await api.put('/v1/gate/settings/passwords', { min_length: 12 })
  const settings = '/v1/gate/settings/branding'
  await api.put(settings, { display_name: 'Acme Cloud', accent_color: '#ffd400' })
  await api.put(`${settings}/logos`, { light: png().toString('base64') })
  const text = { kind: 'recovery', language: 'de', subject: 'Hallo von {{name}}' }
  await api.put(`${settings}/emails`, { emails: [text] })
  const { session_token: token } = await gate.register(ADA)
  const secret = await gate.enrol(token)
  const flow = await gate.settings(token)
  await gate.sendWell(flow, CODES.make, withToken(token))
  await gate.sendWell(flow, CODES.keep, withToken(token))
  const traits = { email: 'bob@example.com', custom_data: { ünïcode: ['☃', 1.5, null] } }
  await gate.createIdentity({ traits, metadata_public: { roles: ['admin'] } })
  const url = 'https://example.com/'
  await gate.createWebhook(url)
  const job = {
    name: 'nightly',
    url,
    body: 'hello "you"\n',
    headers: { authorization: 'Bearer t' },
  }
  const relay = app.client((await acme.key('relay', 'live')).key)
  const filter = { event_types: ['order.*'], channels: ['eu'], headers: { 'x-own': 'value' } }
  const made = [
    await acme.api.post('/v1/clockwork/jobs', { ...job, schedule: '0 12 * * *', is_active: false }),
    await acme.api.post('/v1/clockwork/delayed', { ...job, run_at: '2026-03-02T12:00:00Z' }),
    await relay.post('/v1/relay/endpoints', { url, ...filter }),
  ]
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201])
  const owner = { tenantId: acme.id, environment: 'live' } as const
  await app.passepartout.bots.set(ACTOR, owner, { token: botApi.bot({ name: 'Acme' }).token })
  await app.passepartout.bots.enable(ACTOR, owner)
  return { app, flags, tenantId: acme.id, key, secret }
}

test(MOVED, async () => {
  await using botApi = startBotApi()
  const { app, flags, tenantId, key, secret } = await furnish(botApi)
  const lines = exportOf(app, tenantId)
  await app.stop()
  expect(JSON.stringify(lines)).not.toContain('s1.')
  // Later, because a code of the authenticator works once.
  await using home = await bootTestApp({ flags, start: '2026-03-02T11:00:00.000Z' })
  const imported = await importInto(home, fileOf(lines))
  const look = { branding: 1, branding_logo: 1, mail_text: 1 }
  const counts = {
    ...look,
    tenant: 1,
    identity: 2,
    address: 2,
    cron_job: 1,
    delayed_job: 1,
    bot: 1,
  }
  const leftOut = { recovery_codes: 1 }
  expect(imported).toMatchObject({ counts, alreadyThere: 0, leftOut, notes: {} })
  const [row] = rowsIn(home, 'audit_log').filter(({ action }) => action === 'tenant.imported')
  expect(row).toMatchObject({ object: `tenant:${tenantId}` })
  expect(JSON.parse(row.detail)).toMatchObject({ counts: { identity: 2 } })
  const tenant = { name: 'Acme', plan: 'unlimited', status: 'active' }
  expect(home.platform.tenants.find(tenantId)).toMatchObject(tenant)
  expect(ofKind(lines, 'credential').filter(isCodes)).toHaveLength(1)
  const rest = contentOf(lines).filter((line) => !isCodes(line))
  expect(contentOf(exportOf(home, tenantId))).toEqual(rest)
  // With the same fingerprints, the recovery codes are imported too.
  await using same = await bootTestApp({ flags })
  const { sealing } = app.platform
  const all = await importInto(same, fileOf(lines), { sealing })
  expect(all.leftOut).toEqual({ recovery_codes: 0 })
  expect(contentOf(exportOf(same, tenantId, sealing))).toEqual(contentOf(lines))
  const api = home.client(key)
  const gate = { ...gateOf(home, api), ...flowsOf(home, { tenantId, key, api }) }
  const { continue_with } = await gate.signIn(ADA)
  const redirect = continue_with.find(({ action }: Line) => action === 'redirect_browser_to')
  const { body: flow } = await gate.read(redirect.redirect_browser_to)
  const totp_code = totpAt(secret, home.clock.now())
  expect(await gate.send(flow, { method: 'totp', totp_code })).toMatchObject({ status: 200 })
  expect(await gate.tryPassword(ADA, `${PASSWORD}!`)).not.toMatchObject({ status: 200 })
})
