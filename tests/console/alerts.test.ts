import { expect, test } from 'bun:test'
import { newOperator } from '../support/operator.ts'
import { startTarget } from '../support/target.ts'
import { pagesOf, useConsole } from './fixture.ts'

const app = await useConsole()
const MINUTE = 60_000

const failing = { kind: 'job.failed', subject: 'job:1', path: '/jobs/1' } as const

test('An alert is shown with who was told, and muted by members, but not by viewers', async () => {
  const acme = await app.newTenant('Acme')
  const tenantId = acme.id
  await app.db.commit(() =>
    app.platform.alerts.open({ ...failing, tenantId, name: '<b>Nightly', text: 'Status 500.' }),
  )
  await app.clock.settled()
  const { html } = await acme.owner.open('/alerts')
  expect(html).toContain('Job &lt;b>Nightly is failing')
  expect(html).toContain('1 open alert')
  const [alert] = app.platform.alerts.page(tenantId, 'open', { limit: 1 })
  const viewer = await acme.as('viewer')
  expect((await viewer.open('/alerts')).html).not.toContain('>Mute<')
  const form = { id: alert?.id ?? '', for: '1d' }
  expect((await viewer.send('/alerts/mute', form)).status).toBe(403)
  await (await acme.as('member')).send('/alerts/mute', form)
  expect((await acme.owner.open('/alerts')).html).toContain('Muted until')
  const other = await app.newTenant('Other')
  expect((await other.owner.send('/alerts/mute', form)).status).toBe(404)
  await acme.owner.send('/alerts/unmute', form)
  expect((await acme.owner.open('/alerts')).html).not.toContain('Muted until')
})

test('A channel is created, tested, changed without its secret, and deleted', async () => {
  const acme = await app.newTenant()
  await using target = startTarget()
  const at = '/settings/notifications'
  expect((await acme.owner.open(at)).html).toContain('No notifications are sent')
  const form = { name: 'Ops', url: `${target.url}/s3cret`, min_severity: 'warning', active: 'true' }
  const refused = await acme.owner.send(`${at}/new/slack`, { ...form, url: 'http://10.0.0.1/' })
  expect(refused.status).toBe(422)
  const { location = '' } = await acme.owner.send(`${at}/new/slack`, form)
  const [channel] = app.notifications.channels.list(acme.id)
  const own = `${at}/${channel?.id}`
  expect(location).toContain(own)
  expect((await acme.owner.send(`${own}/test`)).html).toContain('Test notification sent.')
  expect(target.requests[0]?.path).toBe('/hook/s3cret')
  target.answers(500)
  expect((await acme.owner.send(`${own}/test`)).html).toContain('Not sent: status 500.')
  await acme.owner.send(own, { ...form, url: '', name: 'On-call' })
  const { html } = await acme.owner.open(own)
  expect(html).toContain('On-call')
  expect(html).not.toContain('s3cret')
  target.answers(200)
  await acme.owner.send(`${own}/test`)
  expect(target.requests.at(-1)?.path).toBe('/hook/s3cret')
  await acme.owner.send(`${own}/delete`)
  expect(app.notifications.channels.list(acme.id)).toEqual([])
})

test('A failed backup is an alert of the installation, which admins see, until one succeeds', async () => {
  const admin = pagesOf(app, (await (await newOperator(app, { isAdmin: true })).signIn()).cookie)
  const at = app.clock.now()
  const insert = app.db.client.query(
    `INSERT INTO backups (id, origin, started_at, ended_at, file, bytes, error)
      VALUES (?, 'schedule', ?2, ?2, '/srv/a.tar.gz', 1, ?3)`,
  )
  const kinds = () =>
    app.platform.alerts.page(null, 'open', { limit: 9 }).map(({ kind, count }) => [kind, count])
  insert.run('b1', at, 'no space left')
  await app.installationAlerts.check()
  await app.installationAlerts.check()
  expect(kinds()).toEqual([['backup.failed', 1]])
  expect((await admin.open('/console/installation/alerts')).text).toContain('no space left')
  insert.run('b2', at + MINUTE, null)
  app.clock.jump(2 * MINUTE)
  await app.installationAlerts.check()
  expect(kinds()).toEqual([])
})
