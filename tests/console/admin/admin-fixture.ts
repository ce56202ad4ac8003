import type { AnyElysia } from 'elysia'
import { createLayout, type Layout } from '../../../src/console/layout.ts'
import { type ConsoleMiddleware, createConsoleMiddleware } from '../../../src/console/middleware.ts'
import { createScopeChecks } from '../../../src/console/scope.ts'
import { createTurns } from '../../../src/http/turns.ts'
import { type Answer, bootTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { formBody } from '../../support/form.ts'
import { newOperator } from '../../support/operator.ts'

export type AdminFixture = Awaited<ReturnType<typeof bootAdmin>>

/** The application, and somebody who acts for the installation in it. */
export async function bootAdmin(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const admin = await newOperator(app, { email: 'admin@example.com', isAdmin: true })
  const session = await admin.signIn()
  await session.actIn(null)
  return { app, admin, session, ...browserOf(app, session) }
}

/** Opens pages and sends their forms with a session, as a browser without scripts does. */
export function browserOf(
  app: Pick<TestApp, 'raw' | 'operators'>,
  { headers }: { headers: Record<string, string> },
) {
  const open = (path: string): Promise<Answer> => app.raw(path, { headers })
  const send = (path: string, fields: Record<string, string> = {}): Promise<Answer> =>
    app.raw(path, { method: 'POST', headers, body: formBody(app, headers, fields) })

  /** The page that the answer to a form leads to. */
  const follow = async (answer: Answer): Promise<Answer> =>
    open(answer.headers.get('location') ?? 'nowhere')

  return { open, send, follow }
}

/** Pages of the fixture with other parts than its own, such as another configuration. */
export function alone(
  { app, session }: Pick<AdminFixture, 'app' | 'session'>,
  pagesOf: (common: { middleware: ConsoleMiddleware; layout: Layout }) => AnyElysia,
) {
  const baseUrl = () => 'http://localhost'
  const { currentOperator } = app.operators
  const of = {
    currentOperator,
    scopeChecks: createScopeChecks(),
    baseUrl,
    addressOf: () => undefined,
  }
  const middleware = createConsoleMiddleware({ ...of, turns: createTurns(), maxBody: 1000 })
  const layout = createLayout({ baseUrl, nearnessOf: app.platform.metering.nearnessOf })
  const pages = pagesOf({ middleware, layout })
  return async (path: string, { method = 'GET' } = {}): Promise<Answer> => {
    const { headers } = session
    const body = method === 'POST' ? formBody(app, headers) : undefined
    const request = new Request(`http://localhost${path}`, { method, headers, body })
    return read(await pages.handle(request))
  }
}

const read = async (response: Response): Promise<Answer> => ({
  status: response.status,
  headers: response.headers,
  body: await response.text(),
})

/** What a page says, without its tags. */
export const textOf = ({ body }: Answer): string =>
  String(body)
    .replaceAll(/<(script|style)[^>]*>.*?<\/\1>/gs, ' ')
    .replaceAll(/<(?:"[^"]*"|[^>"])*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')

interface AuditRow {
  actor_kind: string
  actor_id: string
  tenant_id: string
  object: string
  detail: string
}

/** What the audit log has of an action, the oldest first. */
export const audited = ({ db }: Pick<TestApp, 'db'>, action: string): AuditRow[] =>
  db.client
    .query<AuditRow, [string]>(
      'SELECT actor_kind, actor_id, tenant_id, object, detail FROM audit_log WHERE action = ? ORDER BY seq',
    )
    .all(action)

/** Names that a page has to hold: each could break out of it, or turn it round. */
export const HOSTILE = [
  ['of a script', '<script>alert(1)</script>'],
  ['that ends an attribute', '"><img src=x onerror=alert(1)>'],
  ['that turns round', 'evil\u202Egnp.exe'],
  ['of 10,000 characters', 'x'.repeat(10_000)],
] as const

/** Nothing of a hostile name is markup. */
export const isEscaped = ({ body }: Answer): boolean =>
  !body.includes('<script>alert') && !body.includes('<img src=x')

export const NOBODYS = '01900000-0000-7000-8000-000000000000'
