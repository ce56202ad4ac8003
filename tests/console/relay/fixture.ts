import { bootTestApp, type TestAppOptions } from '../../support/app.ts'
import { formBody } from '../../support/form.ts'
import { newOperator, type OperatorSession } from '../../support/operator.ts'
import { startTarget } from '../../support/target.ts'

/** The id of nothing. */
export const NOBODYS = '01900000-0000-7000-8000-000000000000'

/** What a tenant may call things by, to the worst. */
export const HOSTILE = {
  script: '<script>alert(1)</script>"\'&',
  turned: '\u202egnp.exe',
  long: 'x'.repeat(10_000),
}

export type RelayFixture = Awaited<ReturnType<typeof bootRelayPages>>

/** Two tenants with the relay, somebody of each kind, and a receiver. */
export async function bootRelayPages(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const target = startTarget()
  const [acme, other] = [await app.tenant('Acme'), await app.tenant('Other')]
  const keyed = async (tenant: typeof acme, environment: 'live' | 'test' = 'live') =>
    app.client((await tenant.key('relay', environment)).key)
  const api = await keyed(acme)
  const owner = await newOperator(app, { roles: { [acme.id]: 'owner' } })
  const sessions = {
    owner: await owner.signIn(),
    member: await (await newOperator(app, { roles: { [acme.id]: 'member' } })).signIn(),
    viewer: await (await newOperator(app, { roles: { [acme.id]: 'viewer' } })).signIn(),
    neighbour: await (await newOperator(app, { roles: { [other.id]: 'owner' } })).signIn(),
    instance: await (await newOperator(app, { isAdmin: true })).signIn(),
  }
  await sessions.instance.actIn(null)

  type Who = keyof typeof sessions
  const cookieOf = ({ cookie }: OperatorSession, environment: string) =>
    `${cookie}; gatehouse_environment=${environment}`

  const open = (path: string, who: Who = 'owner', environment = 'live') =>
    app.raw(path, { headers: { cookie: cookieOf(sessions[who], environment) } })

  /** Sends a form, as the page does without scripts. */
  const post = (
    path: string,
    fields: Record<string, string> = {},
    who: Who = 'owner',
    environment = 'live',
  ) => {
    const headers = { cookie: cookieOf(sessions[who], environment) }
    return app.raw(path, { method: 'POST', headers, body: formBody(app, headers, fields) })
  }

  async function endpoint(fields: Record<string, unknown> = {}, client = api): Promise<string> {
    const { body } = await client.post('/v1/relay/endpoints', { url: target.url, ...fields })
    return body.id
  }

  /** Accepted, and delivered as far as it goes. */
  async function message(fields: Record<string, unknown> = {}, client = api): Promise<string> {
    const event = { event_type: 'order.paid', payload: { order: 42 }, ...fields }
    const { body } = await client.post('/v1/relay/messages', event)
    await app.clock.settled()
    return body.id
  }

  const deliveryOf = async (messageId: string, client = api): Promise<string> =>
    (await client.get(`/v1/relay/messages/${messageId}/deliveries`)).body.data[0].id

  /** The last entry of the audit log by an operator. */
  const lastAudited = () =>
    app.db.client
      .query<{ action: string; object: string; actor_id: string; tenant_id: string }, []>(
        `SELECT action, object, actor_id, tenant_id FROM audit_log
         WHERE actor_kind = 'operator' ORDER BY seq DESC LIMIT 1`,
      )
      .get()

  return {
    app,
    sessions,
    target,
    api,
    acme,
    owner,
    otherApi: await keyed(other),
    testApi: await keyed(acme, 'test'),
    open,
    post,
    endpoint,
    message,
    deliveryOf,
    lastAudited,
    [Symbol.asyncDispose]: async () => {
      await target.stop()
      await app.stop()
    },
  }
}

/** What a page says, without its markup. */
export const wordsOf = (html: string): string =>
  html
    .replaceAll(/<(style|script)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<\/?(?:bdi|code|span|time)\b[^>]*>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ')

/** Where the pager of a page leads: to what is `next`, or `prev`. */
export const linkIn = (html: string, rel: string): string =>
  new RegExp(`rel="${rel}" href="([^"]+)"`).exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''

/** The statuses that each kind of operator gets. */
export async function statusesOf(ask: (who: Operator) => Promise<{ status: number }>) {
  const found: number[] = []
  for (const who of VISITORS) found.push((await ask(who)).status)
  return found
}

export const VISITORS = ['owner', 'member', 'viewer', 'neighbour', 'instance'] as const
type Operator = (typeof VISITORS)[number]
