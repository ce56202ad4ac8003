import { expect, test } from 'bun:test'
import { unescaped } from '../support/http-browser.ts'
import { HOUR, SYSTEM, useConsole } from './fixture.ts'

const app = await useConsole()

test('The settings have ID and plan, and owners change name and time zone', async () => {
  const { id, owner, as } = await app.newTenant('Acme', 'metered')
  await owner.sees('/settings', id, 'Metered', '/usage"')
  const saved = await owner.press('/settings', 'Save settings', {
    name: '  Müller & Söhne ',
    time_zone: 'europe/berlin',
  })
  expect(saved.says('Settings saved.').status).toBe(200)
  expect(app.platform.tenants.find(id)).toMatchObject({
    name: 'Müller & Söhne',
    time_zone: 'Europe/Berlin',
  })
  expect(owner.audited('tenant.changed')).toHaveLength(1)
  const viewer = await as('viewer')
  const shown = await viewer.sees('/settings', 'Müller & Söhne', 'Europe/Berlin', 'Only owners')
  shown.omits('Save settings')
  await app.platform.tenants.suspend(SYSTEM, id, 'billing')
  await owner.sees('/settings', 'Suspended because of an unpaid bill', 'ask an admin')
  const admin = await app.signIn({ isAdmin: true, roles: { [id]: 'owner' } })
  expect((await admin.open('/settings')).html).toContain(`/installation/tenants/${id}#danger`)
})

test('Times are in the zone of their tenant, and in UTC on hover', async () => {
  const { id, owner, job } = await app.newTenant()
  await app.platform.tenants.change(SYSTEM, id, { timeZone: 'Asia/Kolkata' })
  const path = `/jobs/${await job({ schedule: '0 3 1 1 *' })}`
  const { html } = await owner.sees(path, '-01-01 08:30 GMT+5:30', 'at 03:00 UTC')
  expect(html).toMatch(/title="\d{4}-01-01 08:30:00 GMT\+5:30\n\d{4}-01-01 03:00:00 UTC"/)
})

test('A typed time is in the zone of the tenant', async () => {
  const { id, owner } = await app.newTenant()
  await app.platform.tenants.change(SYSTEM, id, { timeZone: 'Asia/Kolkata' })
  await owner.open('/settings')
  const [entry] = app.platform.audit.list({
    tenantId: id,
    action: 'tenant.changed',
    limit: 1,
  }).entries
  const at = entry?.at ?? 0
  const local = (ms: number) => new Date(ms + 5.5 * HOUR).toISOString().slice(0, 19)
  const rowsSince = async (ms: number) =>
    (await owner.sees(`/audit?action=tenant.changed&since=${local(ms)}`, 'From (Asia/Kolkata)'))
      .rows
  expect([await rowsSince(at), await rowsSince(at + 1000)]).toEqual([[`${entry?.seq}`], []])
})

test('Owners set rules for sessions and passwords, and everyone reads them', async () => {
  const { id, owner, as, gate } = await app.newTenant()
  const page = '/settings/security'
  await owner.sees(page, 'placeholder="1d"', 'Common passwords')
  const saved = await owner.press(page, 'Save session rules', { lifetime: '8 h', idle: '30m' })
  saved.says('Session rules saved.', 'value="8h"', 'value="30m"')
  await owner.press(page, 'Save password rules', { min_length: '12' })
  expect((await gate.get('/v1/gate/settings/sessions')).body).toMatchObject({
    lifetime_seconds: 28_800,
    idle_timeout_seconds: 1800,
  })
  expect((await gate.get('/v1/gate/settings/passwords')).body.min_length).toBe(12)
  const viewer = await as('viewer')
  ;(await viewer.sees(page, '8h', '30m', '12 characters')).omits('Save password rules')
  expect(owner.audited('session_rules.changed')).toEqual([`tenant:${id}`])
  await owner.press(page, 'Save session rules', { lifetime: '', idle: '' })
  expect((await gate.get('/v1/gate/settings/sessions')).body.lifetime_seconds).toBeNull()
})

test('Owners change the configuration as a text: with a plan, errors on their lines, and secrets shown once', async () => {
  const { owner, api: clockwork, job } = await app.newTenant()
  const page = '/settings/manifest'
  await job({ name: 'Report', schedule: '0 3 * * *', secret_headers: { authorization: 'hidden' } })
  const { html } = await owner.sees(
    `${page}?edit=current`,
    '[[jobs]]',
    'name = "Report"',
    '********',
  )
  const stored = unescaped(/<textarea[^>]*>\n?([\s\S]*?)<\/textarea>/.exec(html)?.[1] ?? '')
  const text = `${stored.replace('0 3', '0 4')}\n[[monitors]]\nname = "Backup"\nperiod_seconds = 60\n`
  const planned = await owner.press(page, 'Plan changes', { manifest: text })
  planned.says('monitor Backup', '&quot;0 3 * * *&quot; → &quot;0 4 * * *&quot;', 'Apply 2 changes')
  expect((await clockwork.get('/v1/clockwork/jobs')).body[0].schedule).toBe('0 3 * * *')
  const wrong = await owner.press(page, 'Plan changes', { manifest: text.replace('0 4', '61 4') })
  expect(wrong.says('Line 3, column 1: In jobs.0.schedule: minute 61').status).toBe(422)
  const applied = await owner.send(page, { manifest: text, intent: 'apply' })
  applied.says('monitor Backup: http', "won't be able to see it again")
  expect((await clockwork.get('/v1/clockwork/jobs')).body[0].schedule).toBe('0 4 * * *')
  const next = { manifest: text.replace('0 4', '0 5'), intent: 'apply' }
  ;(await owner.follow(await owner.send(page, next))).says('Configuration applied.')
  expect((await owner.open(`${page}/download`)).html).toContain('0 5 * * *')
})
