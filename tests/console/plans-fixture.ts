import { type Answer, bootTestApp } from '../support/app.ts'
import { newOperator } from '../support/operator.ts'
import { startTarget } from '../support/target.ts'
import { watchStatements } from './ran-statements.ts'

export type PlansFixture = Awaited<ReturnType<typeof plansFixture>>

/**
 * An installation with one of everything that the console shows, somebody who sees all of it, and
 * an account of the statements that a page runs.
 */
export async function plansFixture() {
  const watch = watchStatements()
  const app = await bootTestApp()
  const target = startTarget()
  const acme = await app.tenant()
  const operator = await newOperator(app, { roles: { [acme.id]: 'owner' }, isAdmin: true })
  const [inTenant, inInstallation] = [await operator.signIn(), await operator.signIn()]
  await inInstallation.actIn(null)
  const parameters = {
    ...(await addOneOfEach(app, acme, target.url)),
    '/console/team/': [operator.id],
    '/console/admin/operators/': [operator.id],
    '/console/admin/tenants/': [acme.id],
  }

  /** Of what there is no example, there is none: its page is asked for all the same. */
  function placeOf(route: string): string {
    const [, values] = Object.entries(parameters).find(([start]) => route.startsWith(start)) ?? []
    const rest = values?.values()
    return route.replace(/:\w+/g, () => rest?.next().value ?? NOBODYS)
  }

  /** Opens a page, by its route or by an address. */
  async function open(path: string) {
    const session = path.startsWith('/console/admin') ? inInstallation : inTenant
    const environment = path.startsWith('/console/logins') ? 'test' : 'live'
    const cookie = `${session.cookie}; gatehouse_environment=${environment}`
    const headers = { cookie, accept: 'text/html' }
    let answer: Answer | undefined
    const statements = await watch.during(async () => {
      answer = await app.raw(placeOf(path), { headers })
    })
    return { path, status: answer?.status ?? 0, html: `${answer?.body}`, environment, statements }
  }

  return {
    app,
    tenantId: acme.id,
    client: app.db.client,
    /** Every page; streams are none. */
    pages: app.app.routes
      .filter(({ method, path }) => method === 'GET' && /^\/console(?!\/live\/)(\/|$)/.test(path))
      .map(({ path }) => path),
    open,
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]()
      await target.stop()
      await app.stop()
    },
  }
}

const NOBODYS = '01900000-0000-7000-8000-000000000000'

type App = Awaited<ReturnType<typeof bootTestApp>>

/** What stands for the parameters of a route, by how it begins. */
async function addOneOfEach(
  app: App,
  acme: Awaited<ReturnType<App['tenant']>>,
  url: string,
): Promise<Record<string, string[]>> {
  const gate = app.client((await acme.key('gate')).key)
  const relayKey = await acme.key('relay', 'live')
  const relay = app.client(relayKey.key)

  const job = await acme.api.post('/v1/clockwork/jobs', { name: 'J', schedule: '* * * * *', url })
  await acme.api.post(`/v1/clockwork/jobs/${job.body.id}/run`)
  const run_at = '2026-03-02T00:00:00Z'
  const delayed = await acme.api.post('/v1/clockwork/delayed', { name: 'D', run_at, url })
  const webhook = await gate.post('/v1/gate/settings/webhooks', { url, events: TOLD })
  const identity = await gate.post('/v1/gate/identities', PERSON)
  const endpoint = await relay.post('/v1/relay/endpoints', { url })
  const message = await relay.post('/v1/relay/messages', EVENT)
  const mail = await app.db.commit(() => app.mail.post(LETTER, app.clock.now()))
  await app.clock.settled()
  const delivered = app.db.client.query<{ id: string }, [string]>(
    'SELECT id FROM deliveries WHERE endpoint_id = ?',
  )
  return {
    '/console/jobs/': [job.body.id],
    '/console/delayed/': [delayed.body.id],
    '/console/identities/': [identity.body.id],
    '/console/sign-in/providers/': ['google'],
    '/console/webhooks/': [webhook.body.id, delivered.get(webhook.body.id)?.id ?? ''],
    '/console/endpoints/': [endpoint.body.id],
    '/console/messages/': [message.body.id],
    '/console/deliveries/': [delivered.get(endpoint.body.id)?.id ?? ''],
    '/console/event-types/': [EVENT.event_type],
    '/console/bots/': ['test'],
    '/console/keys/': [relayKey.id],
    '/console/admin/mail/': [mail],
    ...(await addSignIn(app, acme)),
  }
}

/** By the test bot, approved. */
async function addSignIn(
  app: App,
  { id: tenantId, key }: Awaited<ReturnType<App['tenant']>>,
): Promise<Record<string, string[]>> {
  await app.passepartout.bots.enable({ kind: 'cli' }, { tenantId, environment: 'test' })
  const api = app.client((await key('passepartout', 'test')).key)
  const { body } = await api.post('/v1/passepartout/login/start', {})
  const page = new URL(body.deep_link).pathname
  const records = () =>
    app.passepartout.records.list({ tenantId, environment: 'test' }, { limit: 1 })
  const choice = records().data[0]?.match_code ?? ''
  await app.raw(page, { method: 'POST', body: new URLSearchParams({ choice, person: 'ada' }) })
  const [login] = records().data
  return {
    '/console/logins/users/': [login?.user_id ?? ''],
    '/console/logins/:': [login?.id ?? ''],
  }
}

const TOLD = ['identity.created']
const PERSON = { schema_id: 'user', traits: { email: 'ada@example.com' } }
const EVENT = { event_type: 'order.paid', payload: { order: 42 } }
const LETTER = {
  tenantId: null,
  about: null,
  kind: 'verification',
  recipient: 'ada@example.com',
  subject: 'Your code',
  text: 'The code is 482913.',
  html: '<p>The code is <b>482913</b>.</p>',
  expiresAt: Date.parse('2027-01-01'),
}
