import { afterAll, expect } from 'bun:test'
import type { Role } from '../../src/console/operators/rights.ts'
import { serve } from '../../src/http/serve.ts'
import type { Engine, Environment } from '../../src/platform/engines.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Plan } from '../../src/platform/tenants.ts'
import { addressIn, shortened } from '../support/address.ts'
import { type Answer, bootTestApp, type TestApp, type TestAppOptions } from '../support/app.ts'
import { unescaped } from '../support/http-browser.ts'
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

/** For tests that are not about the cost of a password. */
export const CHEAP = { 'gate-password-memory': '8MB', 'gate-password-iterations': '1' }

const silent = createLog({ level: 'error', format: 'text', now: () => 0, write: () => {} })

type Options = TestAppOptions & { port?: number }
export type Console = Awaited<ReturnType<typeof bootConsole>>
type Client = ReturnType<TestApp['client']>
export type SignedIn = Awaited<ReturnType<Console['signIn']>>
export type Tenant = Awaited<ReturnType<Console['newTenant']>>

/** The console of a test file: booted once, with a tenant for each test by `newTenant`. */
export async function useConsole(options: Options = {}) {
  const app = await bootConsole(options)
  afterAll(() => app[Symbol.asyncDispose]())
  return app
}

export async function bootConsole({ port = 0, flags, ...options }: Options = {}) {
  const app = await bootTestApp({ ...options, flags: { ...CHEAP, ...flags } })
  const listener = serve(app.app, { host: '127.0.0.1', port }, silent)
  const targets = new AsyncDisposableStack()

  function newTarget() {
    const target = targets.use(startTarget())
    /** From now on answers with this status, or with another one at a path. */
    const fails = (status: number, at?: string) =>
      target.answers(({ path }) => new Response('', { status: at && path !== at ? 200 : status }))
    return { ...target, fails }
  }

  async function signIn(options: NewOperator = {}) {
    const operator = await newOperator(app, options)
    return { ...operator, ...(await sessionOf(operator)) }
  }

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
          .filter((row) => row.actor_kind === 'operator' && row.actor_id === operator.id)
          .map(({ object }) => object),
    }
  }

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
    const [owner, relay, gate] = [
      await as('owner'),
      await clientOf('relay'),
      await clientOf('gate'),
    ]
    let target: ReturnType<typeof newTarget> | undefined
    const targetOf = () => (target ??= newTarget())

    /** Each creates one with the API and answers with its id. */
    const create = async (path: string, fields: object, client: Client) => {
      const { status, body } = await client.post(path, fields)
      if (status >= 300) throw new Error(JSON.stringify(body))
      await app.clock.settled()
      return body.id as string
    }
    const job = (fields: object = {}) => {
      const standard = { name: 'report', schedule: '* * * * *', url: targetOf().url }
      return create('/v1/clockwork/jobs', { ...standard, ...fields }, tenant.api)
    }
    const endpoint = (fields: object = {}, client = relay) =>
      create('/v1/relay/endpoints', { url: targetOf().url, ...fields }, client)
    const message = (fields: object = {}, client = relay) => {
      const standard = { event_type: 'order.paid', payload: { order: 42 } }
      return create('/v1/relay/messages', { ...standard, ...fields }, client)
    }
    const deliveryOf = async (messageId: string): Promise<string> =>
      (await relay.get(`/v1/relay/messages/${messageId}/deliveries`)).body.data[0].id
    const made = { as, clientOf, owner, relay, gate, job, endpoint, message, deliveryOf }
    return {
      ...tenant,
      ...made,
      get target() {
        return targetOf()
      },
    }
  }

  return {
    ...app,
    url: listener.url,
    setUpUrl: async () => `${listener.url}/setup/${await app.operators.links.issueSetUp()}`,
    signIn,
    sessionOf,
    newAdmin,
    newTenant,
    [Symbol.asyncDispose]: async () => {
      // An open stream would keep the server from stopping.
      app.live.stop()
      await listener.stop()
      await app[Symbol.asyncDispose]()
      await targets.disposeAsync()
    },
  }
}

export const inEnvironment = (cookie: string, environment: Environment) =>
  `${cookie}; gatehouse_environment=${environment}`

type Fields = Record<string, string> | string[][]

/**
 * Opens pages and submits forms with a cookie, as a browser without scripts does. A path such as `/jobs`
 * is one of the selected tenant and environment, or of the installation.
 */
export function pagesOf(app: Pick<TestApp, 'raw' | 'operators'>, cookie?: string) {
  const headers = { accept: 'text/html', ...(cookie !== undefined && { cookie }) }
  const addressOf = (path: string) => addressIn(app, headers, path)
  const open = async (path: string) => pageOf(await app.raw(addressOf(path), { headers }))
  const send = async (path: string, fields: Fields = {}) => {
    const body = new URLSearchParams(fields)
    // A browser keeps the part after the # to itself.
    const [address = ''] = addressOf(path).split('#')
    return pageOf(await app.raw(address, { method: 'POST', headers, body }))
  }
  const sees = async (path: string, ...words: string[]) => (await open(path)).says(...words)
  const follow = async (page: Page) => (page.location === null ? page : open(page.location))

  /** Opens a page and presses a button of it; answers with the page after it. */
  async function press(path: string, button: string, typed: Record<string, string> = {}) {
    const { action, hidden } = (await open(path)).formOf(button)
    return follow(await send(action, { ...hidden, ...typed }))
  }
  return { open, send, follow, press, sees }
}

export type Page = ReturnType<typeof pageOf>

export function pageOf({ status, headers, body }: Answer) {
  const html = String(body)
  let text: string | undefined
  const all = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, found = '']) => found)
  const page = {
    status,
    headers,
    html,
    /** Without tenant and environment: `/console/jobs`. */
    location: headers.has('location') ? shortened(headers.get('location') ?? '') : null,
    get text() {
      text ??= textOf(html)
      return text
    },
    get rows() {
      return all(/<tr id="row-([^"]+)"/g)
    },
    get links() {
      return all(/ href="(\/console[^"]*)"/g).map((link) =>
        shortened(unescaped(link)).replace('/console', ''),
      )
    },
    get next() {
      return unescaped(all(/rel="next" href="([^"]+)"/g)[0] ?? '')
    },
    get prev() {
      return unescaped(all(/rel="prev" href="([^"]+)"/g)[0] ?? '')
    },
    get wrong() {
      return all(/id="field-(\w+)-error"/g)
    },
    /** Checks that its text or its markup has all of these. */
    says(...words: string[]) {
      const missing = words.filter((one) => !page.text.includes(one) && !html.includes(one))
      if (missing.length > 0) expect(page.text).toContain(missing[0] as string)
      return page
    },
    /** Checks that it has none of these: markup as markup, words also as text. */
    omits(...words: string[]) {
      const isIn = (one: string) =>
        html.includes(one) || (!/</.test(one) && page.text.includes(one))
      expect(words.filter(isIn)).toEqual([])
      return page
    },
    formOf(button: string) {
      const forms = html.match(/<form [^>]*method="post"[\s\S]*?<\/form>/g) ?? []
      const form = forms.find((one) =>
        [...one.matchAll(/<button type="submit"[^>]*>([\s\S]*?)<\/button>/g)].some(
          ([, label = '']) => textOf(label).trim() === button,
        ),
      )
      if (!form) throw new Error(`no button ${button}: ${page.text}`)
      const hidden = form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)
      return {
        action: unescaped(/action="([^"]*)"/.exec(form)?.[1] ?? ''),
        hidden: Object.fromEntries(
          [...hidden].map(([, name, value = '']) => [name, unescaped(value)]),
        ),
      }
    },
  }
  return page
}

/** What a page says, without its markup. */
export const textOf = (html: string): string =>
  unescaped(
    html
      .replaceAll(/<(style|script)[\s\S]*?<\/\1>/g, '')
      .replaceAll(/<\/?(?:bdi|code|span|time)\b(?:"[^"]*"|[^>"])*>/g, '')
      .replaceAll(/<(?:"[^"]*"|[^>"])*>/g, ' '),
  ).replaceAll(/\s+/g, ' ')

interface AuditRow {
  actor_kind: string
  actor_id: string
  tenant_id: string
  object: string
  detail: string
}

export const audited = ({ db }: Pick<TestApp, 'db'>, action: string): AuditRow[] =>
  db.client
    .query<AuditRow, [string]>(
      `SELECT actor_kind, actor_id, tenant_id, object, detail
       FROM audit_log WHERE action = ? ORDER BY seq`,
    )
    .all(action)

export function mailTo({ mail }: Pick<TestApp, 'mail'>, recipient: string): string {
  const [newest] = mail.outbox.list('all', { recipient, limit: 1 }).data
  return mail.outbox.read('all', newest?.id ?? '')?.body?.text ?? ''
}

export const written = ({ db }: Pick<TestApp, 'db'>): number =>
  db.client.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n ?? 0
