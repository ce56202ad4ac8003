import { afterAll } from 'bun:test'
import type { Role } from '../../src/console/operators/rights.ts'
import { serve } from '../../src/http/serve.ts'
import type { Engine, Environment } from '../../src/platform/engines.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Plan } from '../../src/platform/tenants.ts'
import { type Answer, bootTestApp, type TestApp, type TestAppOptions } from '../support/app.ts'
import { formBody } from '../support/form.ts'
import { type NewOperator, newOperator } from '../support/operator.ts'
import { startTarget } from '../support/target.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000'
export const SYSTEM = { kind: 'system' } as const

/** What a newcomer types into the forms that create an account. */
export const ACCOUNT = {
  name: 'Ada Berg',
  email: 'ada@example.com',
  password: 'correct horse battery',
}

/** A mail server that accepts nothing: emails stay in the outbox. */
export const WITH_MAIL = {
  GATEHOUSE_MAIL_SMTP_URL: 'smtp://127.0.0.1:9',
  GATEHOUSE_MAIL_FROM: 'gate@example.org',
}

const silent = createLog({ level: 'error', format: 'text', now: () => 0, write: () => {} })

export type ServedApp = Awaited<ReturnType<typeof servedApp>>
export type Console = Awaited<ReturnType<typeof bootConsole>>
type Client = ReturnType<TestApp['client']>
export type SignedIn = Awaited<ReturnType<Console['signIn']>>
export type Tenant = Awaited<ReturnType<Console['newTenant']>>

/** The application behind a port. */
export async function servedApp({ port = 0, ...options }: TestAppOptions & { port?: number } = {}) {
  const app = await bootTestApp(options)
  const listener = serve(app.app, { host: '127.0.0.1', port }, silent)
  return {
    ...app,
    url: listener.url,
    setUpUrl: async () => `${listener.url}/setup/${await app.operators.links.issueSetUp()}`,
    [Symbol.asyncDispose]: async () => {
      // An open stream would keep the server from stopping.
      app.live.stop()
      await listener.stop()
      await app[Symbol.asyncDispose]()
    },
  }
}

/** The console of a test file: booted once, with a tenant for each test by `newTenant`. */
export async function useConsole(options: Parameters<typeof servedApp>[0] = {}) {
  const app = await bootConsole(options)
  afterAll(() => app[Symbol.asyncDispose]())
  return app
}

export async function bootConsole(options: Parameters<typeof servedApp>[0] = {}) {
  const app = await servedApp(options)
  const targets = new AsyncDisposableStack()

  /** A new operator in a session of their own. */
  async function signIn(options: NewOperator = {}) {
    const operator = await newOperator(app, options)
    return { ...operator, ...(await sessionOf(operator)) }
  }

  /** One more session of an operator, with its pages. */
  async function sessionOf(operator: Awaited<ReturnType<typeof newOperator>>) {
    const session = await operator.signIn()
    return {
      ...session,
      sessionId: session.id,
      id: operator.id,
      ...pagesOf(app, session.cookie),
      in: (environment: Environment) => pagesOf(app, inEnvironment(session.cookie, environment)),
      /** The objects of what this operator did, oldest first. */
      audited: (action: string) =>
        audited(app, action)
          .filter(
            ({ actor_kind, actor_id }) => actor_kind === 'operator' && actor_id === operator.id,
          )
          .map(({ object }) => object),
    }
  }

  /** An operator who acts for the installation. */
  async function newAdmin(options: NewOperator = {}) {
    const admin = await signIn({ isAdmin: true, ...options })
    await admin.actIn(null)
    return admin
  }

  /** A tenant with an owner, clients for its APIs, and a server for what it sends. */
  async function newTenant(name = 'Acme', plan: Plan = 'unlimited') {
    const tenant = await app.tenant(name, plan)
    const clientOf = async (engine: Engine, environment: Environment = 'live') =>
      app.client((await tenant.key(engine, environment)).key)
    const as = (role: Role) => signIn({ roles: { [tenant.id]: role } })
    const relay = await clientOf('relay')
    const target = targets.use(startTarget())

    /** Each creates one with the API and answers with its id. */
    const create = async (path: string, fields: object, client: Client) => {
      const { status, body } = await client.post(path, fields)
      if (status >= 300) throw new Error(JSON.stringify(body))
      await app.clock.settled()
      return body.id as string
    }
    const job = (fields: object = {}) => {
      const standard = { name: 'report', schedule: '* * * * *', url: target.url }
      return create('/v1/clockwork/jobs', { ...standard, ...fields }, tenant.api)
    }
    const endpoint = (fields: object = {}, client = relay) =>
      create('/v1/relay/endpoints', { url: target.url, ...fields }, client)
    const message = (fields: object = {}, client = relay) => {
      const standard = { event_type: 'order.paid', payload: { order: 42 } }
      return create('/v1/relay/messages', { ...standard, ...fields }, client)
    }
    const deliveryOf = async (messageId: string): Promise<string> =>
      (await relay.get(`/v1/relay/messages/${messageId}/deliveries`)).body.data[0].id

    return {
      ...tenant,
      as,
      clientOf,
      owner: await as('owner'),
      relay,
      gate: await clientOf('gate'),
      target,
      job,
      endpoint,
      message,
      deliveryOf,
    }
  }

  return {
    ...app,
    signIn,
    sessionOf,
    newAdmin,
    newTenant,
    [Symbol.asyncDispose]: async () => {
      await app[Symbol.asyncDispose]()
      await targets.disposeAsync()
    },
  }
}

export const inEnvironment = (cookie: string, environment: Environment) =>
  `${cookie}; gatehouse_environment=${environment}`

type Fields = Record<string, string> | string[][]

/** Opens pages and submits forms with a cookie, as a browser without scripts does. */
export function pagesOf(app: Pick<TestApp, 'raw' | 'operators'>, cookie?: string) {
  const headers = { accept: 'text/html', ...(cookie !== undefined && { cookie }) }
  const open = async (path: string) => pageOf(await app.raw(path, { headers }))
  const send = async (path: string, fields: Fields = {}) =>
    pageOf(await app.raw(path, { method: 'POST', headers, body: formBody(app, headers, fields) }))
  return { open, send, follow: ({ location }: Page) => open(location ?? '') }
}

export type Page = ReturnType<typeof pageOf>

/** An answer as a page. */
export function pageOf({ status, headers, body }: Answer) {
  const html = String(body)
  const linkOf = (rel: string) =>
    new RegExp(`rel="${rel}" href="([^"]+)"`).exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  return {
    status,
    headers,
    html,
    location: headers.get('location'),
    get text() {
      return textOf(html)
    },
    /** Ids of the rows of its list. */
    get rows() {
      return [...html.matchAll(/<tr id="row-([^"]+)"/g)].map(([, id]) => id as string)
    },
    get next() {
      return linkOf('next')
    },
    get prev() {
      return linkOf('prev')
    },
    /** Names of the fields that have an error. */
    get wrong() {
      return [...html.matchAll(/id="field-(\w+)-error"/g)].map(([, name]) => name as string)
    },
  }
}

/** What a page says, without its markup. */
export const textOf = (html: string): string =>
  html
    .replaceAll(/<(style|script)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<\/?(?:bdi|code|span|time)\b(?:"[^"]*"|[^>"])*>/g, '')
    .replaceAll(/<(?:"[^"]*"|[^>"])*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')

interface AuditRow {
  actor_kind: string
  actor_id: string
  tenant_id: string
  object: string
  detail: string
}

/** The entries of the audit log with an action, oldest first. */
export const audited = ({ db }: Pick<TestApp, 'db'>, action: string): AuditRow[] =>
  db.client
    .query<AuditRow, [string]>(
      `SELECT actor_kind, actor_id, tenant_id, object, detail
       FROM audit_log WHERE action = ? ORDER BY seq`,
    )
    .all(action)

/** What the newest email to an address says. */
export function mailTo({ mail }: Pick<TestApp, 'mail'>, recipient: string): string {
  const [newest] = mail.outbox.page('all', { recipient }, { limit: 1 }).mails
  return mail.outbox.read('all', newest?.id ?? '')?.body?.text ?? ''
}
