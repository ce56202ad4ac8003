import type { Engine } from '../../../src/platform/engines.ts'
import type { Answer, TestApp } from '../../support/app.ts'

/** What the parameters of a path name, by a part of the path before them. */
export type Things = readonly (readonly [part: string, id: string])[]

type Tenant = Awaited<ReturnType<TestApp['tenant']>>

/** One of everything that a route can be asked about. */
export async function makeThings(app: TestApp, acme: Tenant): Promise<Things> {
  const clientFor = async (engine: Engine, environment?: 'test') =>
    app.client((await acme.key(engine, environment)).key)
  const [gate, clockwork, relay, sandbox] = await Promise.all([
    clientFor('gate'),
    clientFor('clockwork'),
    clientFor('relay'),
    clientFor('passepartout', 'test'),
  ])
  const url = 'https://example.com/hook'

  const webhook = made(await gate.post('/v1/gate/settings/webhooks', { url }))
  const traits = { email: 'eve@example.com' }
  const identity = made(await gate.post('/v1/gate/identities', { schema_id: 'user', traits }))
  const question = { subject: identity.id, action: 'read', resource: 'document:1' }
  const { decision_id: decision } = made(await gate.post('/v1/gate/authorize', question))
  const told = made(await gate.get('/v1/gate/settings/webhooks/deliveries'))

  const job = { name: 'n', schedule: '* * * * *', url }
  const cron = made(await clockwork.post('/v1/clockwork/jobs', job))
  const once = { name: 'n', run_at: '2027-01-31T12:00:00Z', url }
  const delayed = made(await clockwork.post('/v1/clockwork/delayed', once))

  const beat = { name: 'n', period_seconds: 3600 }
  const monitor = made(await clockwork.post('/v1/clockwork/monitors', beat))

  const endpoint = made(await relay.post('/v1/relay/endpoints', { url }))
  const event = { event_type: 'user.created', payload: {} }
  const message = made(await relay.post('/v1/relay/messages', event))
  const sent = made(await relay.get('/v1/relay/deliveries'))

  const owner = { tenantId: acme.id, environment: 'test' } as const
  await app.passepartout.bots.enable({ kind: 'cli', source: 'test' }, owner)
  const { deep_link: link } = made(await sandbox.post('/v1/passepartout/login/start'))
  const key = await acme.key('relay')
  const other = await app.tenant('Other')
  const ofOther = await other.key('relay')
  const ofInstallation = await app.platform.keys.issueForInstallation({ kind: 'system' }, {})
  return [
    ['webhooks/deliveries/', told.data[0].id],
    ['webhooks/', webhook.id],
    ['/deliveries/', sent.data[0].id],
    ['identities/', identity.id],
    ['decisions/', decision],
    ['/auth/self-service/', 'login'],
    ['/monitors/', monitor.id],
    ['/ping/', monitor.ping_url.split('/').at(-1)],
    ['/badge/', monitor.badge_url.split('/').at(-1)],
    ['jobs/', cron.id],
    ['delayed/', delayed.id],
    ['endpoints/', endpoint.id],
    ['messages/', message.id],
    ['event-types/', event.event_type],
    ['/sandbox/passepartout/', new URL(link).pathname.split('/').at(-1) ?? ''],
    ['/console/keys/', key.id],
    ['/installation/keys/', ofInstallation.id],
    ['/keys/', ofOther.id],
    ['tenants/', other.id],
    ['/public/gate/providers/', acme.id],
    ['/bots/', 'live'],
    ['providers/', 'github'],
    ['methods/', 'passwordless'],
  ]
}

function made({ status, body }: Answer) {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}
