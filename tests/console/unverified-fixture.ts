import { dirname } from 'node:path'
import { createStore } from '../../src/engines/gate/store.ts'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import type { TestApp, TestAppOptions } from '../support/app.ts'
import { cli } from '../support/cli.ts'
import { formBody } from '../support/form.ts'
import { newHttpBrowser } from '../support/http-browser.ts'
import { newOperator } from '../support/operator.ts'
import { servedApp } from './console-fixture.ts'

export const EMAIL = 'victim@example.com'
const PASSWORD = 'correct horse battery'
const TYPED = { identifier: EMAIL, password: PASSWORD }

/** A mail server that takes nothing: mails are written down, and wait. */
export const WITH_MAIL = {
  GATEHOUSE_MAIL_SMTP_URL: 'smtp://127.0.0.1:9',
  GATEHOUSE_MAIL_FROM: 'gate@example.org',
}

/** What the newest mail to an address says. */
export function mailTo({ app }: { app: TestApp }, address: string): string {
  const [mail] = app.mail.outbox.page('all', { recipient: address }, { limit: 1 }).mails
  return app.mail.outbox.read('all', mail?.id ?? '')?.body?.text ?? ''
}

export type UnverifiedFixture = Awaited<ReturnType<typeof bootUnverified>>

/**
 * An installation with an admin, a tenant, and an account by the address of another, with every way
 * into it that a stranger could have set up.
 */
export async function bootUnverified(options: TestAppOptions = {}) {
  // Commands have no clock to be turned.
  const app = await servedApp({ start: new Date().toISOString(), ...options })
  const { id: tenantId } = await app.tenant('Acme')
  const admin = await newOperator(app, { isAdmin: true })
  const owner = await newOperator(app, { roles: { [tenantId]: 'owner' } })
  const { id } = await app.gate.gateOperators.create(
    { kind: 'system' },
    { email: EMAIL, displayName: 'Eve', password: PASSWORD, isVerified: false },
  )
  await prepare()

  async function prepare() {
    const store = createStore(app.db)
    const at = app.clock.now()
    const of = { tenantId: SYSTEM_TENANT_ID, identityId: id, createdAt: at, updatedAt: at }
    const provider = 'github-tenant'
    await app.db.commit(() => {
      store.credentials.put({ ...of, type: 'lookup_secret', config: '{"codes":[]}', version: 0 })
      store.socialLinks.insert({ ...of, provider, subject: 'eve', tokens: null })
    })
  }

  /** By the password, on gate's own pages. */
  async function signIn() {
    const operator = newHttpBrowser()
    const login = await operator.visit(`${app.url}/console/account`)
    const page = await operator.press(login, 'method=password', TYPED)
    return { ...operator, page, isIn: () => isIn(operator) }
  }

  const isIn = async (operator: ReturnType<typeof newHttpBrowser>): Promise<boolean> =>
    new URL((await operator.visit(`${app.url}/console/account`)).url).pathname ===
    '/console/account'

  /** A form of the console, sent by an operator who acts there. */
  async function send(by: typeof admin, path: string, fields: Record<string, string> = {}) {
    const session = await by.signIn()
    await session.actIn(by === admin ? null : tenantId)
    const body = formBody(app, session.headers, fields)
    return app.raw(path, { method: 'POST', headers: session.headers, body })
  }

  async function see(by: typeof admin, path: string): Promise<string> {
    const session = await by.signIn()
    await session.actIn(by === admin ? null : tenantId)
    return (await app.raw(path, { headers: session.headers })).body
  }

  const folder = dirname(app.db.file)
  const gatehouse = cli(folder, { env: { GATEHOUSE_DATA_DIR: folder } })

  const invite = (email: string, role: 'owner' | 'viewer' = 'viewer') =>
    app.operators.invitations.invite(
      { actor: { kind: 'system' }, id: owner.id, name: 'Ada' },
      tenantId,
      { email, role },
    )

  return {
    app,
    id,
    /** What the account was made with. */
    typed: TYPED,
    tenantId,
    admin,
    owner,
    signIn,
    isIn,
    send,
    see,
    invite,
    operator: (verb: string, ...more: string[]) =>
      gatehouse('operator', verb, '--email', EMAIL, ...more),
    roleOf: (operatorId = id) =>
      app.operators.memberships.of(operatorId).find((one) => one.tenantId === tenantId)?.role,
    isVerified: (operatorId = id) => app.gate.gateOperators.operatorList.isVerified(operatorId),
    /** What the account can be entered by, and how often it is. */
    waysIn: () => {
      const { password, recoveryCodes, accounts } = app.gate.gateOperators.signInMethodsOf(id)
      const sessions = app.gate.gateOperators.sessions.list(id).length
      return { password: !!password, codes: !!recoveryCodes, accounts: accounts.length, sessions }
    },
    [Symbol.asyncDispose]: app[Symbol.asyncDispose],
  }
}

/** Of an account that no one can enter but by what they were given now. */
export const NO_WAYS = { password: false, codes: false, accounts: 0, sessions: 0 }
