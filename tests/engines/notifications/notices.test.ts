import { expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { DELAYS_MS } from '../../../src/engines/notifications/notices/settling.ts'
import { newOperator } from '../../support/operator.ts'
import { startTarget } from '../../support/target.ts'
import { ACTOR, HOUR, MINUTE, useNotifications } from './fixture.ts'

const { app, clock, mailServer, party, installation } = await useNotifications()
const without = await useNotifications({ withoutMail: true })

/** Goes on by setting the clock, so that not all loops wake up all the time. */
async function leap(ms: number) {
  clock.jump(ms - Math.min(ms, 10_000))
  await clock.advance(Math.min(ms, 10_000))
}

const receivedBy = (address: string) => mailServer.received.filter(({ to }) => to.includes(address))

test('Owners with a verified address are told by email, as long as no channel is set up', async () => {
  const acme = await party('Acme')
  const roles = { [acme.id]: 'owner' } as const
  await newOperator(app, { email: 'owner@example.com', roles })
  await newOperator(app, { email: 'unverified@example.com', roles, isVerified: false })
  await newOperator(app, { email: 'viewer@example.com', roles: { [acme.id]: 'viewer' } })
  await newOperator(app, { email: 'other@example.com', isAdmin: true })
  await acme.fail()
  expect(mailServer.received.map(({ to }) => to)).toEqual([['owner@example.com']])
  const [mail] = receivedBy('owner@example.com')
  expect(mail?.parsed.subject).toBe('🔴 Job Nightly is failing · Acme')
  expect(mail?.parsed.text).toContain('Status 500.')
  expect(mail?.parsed.text).toContain(`/console/${acme.id}/jobs/1`)
  expect(acme.log()).toMatchObject([{ channelId: 'owners', state: 'sent', tries: 1 }])
  await acme.addChannel({ type: 'owners', isActive: false })
  await acme.fail({ subject: 'job:2' })
  expect(receivedBy('owner@example.com')).toHaveLength(1)
  expect(acme.log()).toHaveLength(1)
  await installation.fail({ kind: 'disk.low', subject: 'installation', path: '/health' })
  const [admin, ...others] = receivedBy('other@example.com')
  expect(others).toEqual([])
  expect(admin?.parsed.text).toContain('/console/installation/health')
})

test('Without a mail server nothing is sent, kept or logged for owners; an email channel fails', async () => {
  const acme = await without.party()
  const email = 'ada@example.com'
  await newOperator(without.app, { email, roles: { [acme.id]: 'owner' } })
  await acme.fail()
  expect(acme.log()).toEqual([])
  await acme.addChannel({ type: 'email', settings: { address: email } })
  await acme.fail({ subject: 'job:2' })
  expect(acme.log()).toMatchObject([{ state: 'failed', lastError: 'no mail server is set up' }])
  expect(without.app.mail.outbox.list('all', { limit: 9 }).data).toEqual([])
})

test('Emails go to members at verified addresses alone, even after a channel was made', async () => {
  const acme = await party()
  const roles = { [acme.id]: 'viewer' } as const
  const { id } = await newOperator(app, { email: 'grace@example.com', roles })
  await newOperator(app, { email: 'eve@example.com', roles, isVerified: false })
  for (const address of ['eve@example.com', 'stranger@example.com', 'owner@example.com'])
    await expect(acme.addChannel({ type: 'email', settings: { address } })).rejects.toMatchObject({
      field: 'settings.address',
    })
  await acme.addChannel({ type: 'email', settings: { address: 'grace@example.com' } })
  await acme.fail()
  expect(receivedBy('grace@example.com')).toHaveLength(1)
  await app.operators.memberships.remove(ACTOR, acme.id, id).catch(() => {})
  app.db.client.run('DELETE FROM console_memberships WHERE operator_id = ?', [id])
  await acme.fail({ subject: 'job:2' })
  expect(receivedBy('grace@example.com')).toHaveLength(1)
  expect(acme.log()[0]).toMatchObject({ state: 'failed' })
})

test('A webhook is signed by Standard Webhooks, and keeps its id over attempts', async () => {
  const acme = await party()
  const { target } = acme
  const url = `${target.url}?key=1`
  const { channel, secret = '' } = await app.notifications.channels.create(acme.id, ACTOR, {
    type: 'webhook',
    settings: { url },
  })
  target.answers(500)
  await acme.fail()
  target.answers(200)
  await clock.advance(10_000)
  expect(target.requests).toHaveLength(2)
  const [first, second] = target.requests
  expect(second?.headers.get('webhook-id')).toBe(first?.headers.get('webhook-id') ?? '')
  const stamp = Number(second?.headers.get('webhook-timestamp')) * 1000
  expect(stamp).toBe(Math.floor(clock.now() / 1000) * 1000)
  // The library compares with the real clock.
  const headers = Object.fromEntries(second?.headers.entries() ?? [])
  const verifier = new Webhook(secret)
  expect(headers['webhook-signature']).toBe(
    verifier.sign(headers['webhook-id'] ?? '', new Date(stamp), second?.body ?? ''),
  )
  expect(JSON.parse(second?.body ?? '')).toMatchObject({
    type: 'alert.opened',
    data: { kind: 'job.failed', title: 'Job Nightly is failing', tenant: { id: acme.id } },
  })
  expect(acme.log()).toMatchObject([{ state: 'sent', tries: 2, channelId: channel.id }])
  expect(acme.channels()).toMatchObject([{ lastError: null, lastAt: clock.now() }])
})

test('A notice that can not be sent is tried six times and then kept as failed', async () => {
  const acme = await party()
  await acme.addChannel({ type: 'slack', settings: { url: acme.target.url } })
  acme.target.answers(404)
  await acme.fail()
  for (const [n, delay] of DELAYS_MS.entries()) {
    expect(acme.target.requests).toHaveLength(n + 1)
    await leap(delay)
  }
  await leap(HOUR)
  expect(acme.target.requests).toHaveLength(6)
  expect(acme.log()).toMatchObject([{ state: 'failed', tries: 6, lastError: 'status 404' }])
  expect(acme.channels()).toMatchObject([{ lastError: 'status 404' }])
})

test('A dead channel delays no other', async () => {
  const acme = await party()
  await using dead = startTarget()
  const held = dead.hold()
  for (let n = 0; n < 3; n++) await acme.addChannel({ type: 'slack', settings: { url: dead.url } })
  await acme.addChannel({ type: 'discord', settings: { url: acme.target.url } })
  const { settled } = clock
  clock.settled = async () => {
    for (let turn = 0; turn < 5; turn++) await app.db.commit(() => undefined)
  }
  for (let n = 0; n < 20; n++) await acme.fail({ subject: `job:${n}` })
  while (acme.target.requests.length < 20) await new Promise((resolve) => setTimeout(resolve, 5))
  // Two at a time to each of the three.
  expect(dead.requests.length).toBeLessThanOrEqual(6)
  dead.answers(200)
  held.release(200)
  clock.settled = settled
  await clock.settled()
  expect(acme.target.requests).toHaveLength(20)
})

test('A channel gets sixty notices an hour, and one that sums up the rest; others get their own', async () => {
  const [acme, other] = [await party(), await party('Other')]
  for (const { addChannel, target } of [acme, other])
    await addChannel({ type: 'slack', settings: { url: target.url } })
  await app.db.commit(() => {
    for (let n = 0; n < 500; n++)
      app.platform.alerts.open({
        ...{ tenantId: acme.id, kind: 'job.failed', subject: `job:${n}`, name: `N${n}` },
        ...{ text: 'Status 500.', path: '/' },
      })
  })
  await other.fail()
  await clock.settled()
  expect(other.target.requests).toHaveLength(1)
  expect(acme.target.requests).toHaveLength(60)
  await leap(HOUR)
  expect(acme.target.requests).toHaveLength(61)
  expect(acme.target.requests.at(-1)?.body).toContain('440 more alerts')
  expect(acme.log()[0]).toMatchObject({ kind: 'alerts.summary', state: 'sent' })
})

test('A channel is told of its kinds and severities alone', async () => {
  const acme = await party()
  await using critical = startTarget()
  await acme.addChannel({ type: 'slack', settings: { url: critical.url }, minSeverity: 'critical' })
  const kinds = ['endpoint.failing' as const]
  await acme.addChannel({ type: 'slack', settings: { url: acme.target.url }, kinds })
  await acme.fail()
  await acme.fail({ kind: 'endpoint.failing', subject: 'endpoint:1' })
  expect(critical.requests).toHaveLength(1)
  expect(critical.requests[0]?.body).toContain('Job Nightly')
  expect(acme.target.requests).toHaveLength(1)
  expect(acme.target.requests[0]?.body).toContain('Endpoint Nightly')
})

test('A recovery says how often it failed since when', async () => {
  const acme = await party()
  await acme.addChannel({ type: 'ntfy', settings: { server: acme.target.url, topic: 'acme' } })
  for (let n = 0; n < 37; n++) await acme.fail()
  const [opened, ended] = [clock.now(), clock.now() + 40 * MINUTE]
  await leap(40 * MINUTE)
  await acme.recover()
  await leap(HOUR)
  const minute = (at: number) => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  expect(acme.target.requests.map(({ body }) => JSON.parse(body))).toMatchObject([
    { title: 'Job Nightly is failing', priority: 4 },
    {
      title: 'Job Nightly works again',
      message: expect.stringContaining(
        `It happened 37 times since ${minute(opened)}, and ended at ${minute(ended)}.`,
      ),
    },
  ])
})

test('A target that the guard refuses, or that names a header that is ours, is refused', async () => {
  const acme = await party()
  const refused = (channel: Parameters<typeof acme.addChannel>[0], field: string) =>
    expect(acme.addChannel(channel)).rejects.toMatchObject({ field })
  const inside = 'http://169.254.169.254/latest'
  for (const type of ['slack', 'discord', 'webhook', 'http'] as const)
    await refused({ type, settings: { url: inside } }, 'settings.url')
  await refused({ type: 'ntfy', settings: { server: inside, topic: 'x' } }, 'settings.server')
  await refused({ type: 'slack', settings: {} }, 'settings.url')
  const { url } = acme.target
  await refused({ type: 'http', settings: { url, headers: { 'a b': 'x' } } }, 'settings.headers')
  await refused({ type: 'slack', settings: { url }, name: ' ' }, 'name')
  await expect(
    installation.addChannel({ type: 'telegram', settings: { chat_id: '-100' } }),
  ).rejects.toMatchObject({ field: 'type' })
})

test('Secrets are masked in answers, sealed in the database, and kept if they are written back', async () => {
  const acme = await party()
  const settings = {
    url: `${acme.target.url}/s3cret`,
    headers: { 'x-key': 'hunter2' },
    body: '{{title}}',
  }
  const { id } = await acme.addChannel({ type: 'http', settings })
  const [shown] = acme.channels()
  expect(shown?.settings).toEqual({
    ...settings,
    url: '********',
    headers: { 'x-key': '********' },
  })
  const stored = JSON.stringify(app.db.client.query('SELECT * FROM notification_channels').all())
  expect(stored).not.toMatch(/s3cret|hunter2/)
  const { update } = app.notifications.channels
  await update(acme.id, ACTOR, id, { settings: { ...shown?.settings, body: 'x {{text}}' } })
  await acme.fail()
  const [request] = acme.target.requests
  expect(request).toMatchObject({ path: '/hook/s3cret', body: 'x Status 500.' })
  expect(request?.headers.get('x-key')).toBe('hunter2')
})

test('New settings replace all: no token goes to another server unless it is sent back', async () => {
  const acme = await party()
  const settings = { server: acme.target.url, topic: 'a', token: 'tk_1' }
  const { id } = await acme.addChannel({ type: 'ntfy', settings })
  const { update } = app.notifications.channels
  const tokens = async (token: object) => {
    const server = `${acme.target.url}/other`
    await update(acme.id, ACTOR, id, { settings: { server, topic: 'b', ...token } })
    await app.notifications.test(acme.id, id)
    return acme.target.requests.at(-1)?.headers.get('authorization')
  }
  expect([await tokens({ token: '********' }), await tokens({})]).toEqual(['Bearer tk_1', null])
})

test('A channel whose settings cannot be decrypted fails as its test does', async () => {
  const acme = await party()
  const { id } = await acme.addChannel({ type: 'webhook', settings: { url: acme.target.url } })
  app.db.client.run(`update notification_channels set settings = 'x' where id = ?`, [id])
  await acme.fail()
  const [notice] = acme.log()
  const problem = 'the settings of this channel cannot be decrypted. Delete it and create it again'
  expect(notice).toMatchObject({ state: 'failed', lastError: problem })
  await expect(app.notifications.test(acme.id, id)).rejects.toMatchObject({ problem })
})
