import { newcomer } from '../../src/console/operators/grantee.ts'
import type { Role } from '../../src/console/operators/rights.ts'
import { SESSION_COOKIE } from '../../src/console/operators/session-cookie.ts'
import { createOperatorStore } from '../../src/console/operators/store/index.ts'
import { createStore } from '../../src/engines/gate/store.ts'
import { openSystemTenant, SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import type { TestApp } from './app.ts'

export interface NewOperator {
  email?: string
  /** Of the installation. */
  isAdmin?: boolean
  /** By tenant id. */
  roles?: Record<string, Role>
  /** True by default. */
  isVerified?: boolean
}

export type Operator = Awaited<ReturnType<typeof newOperator>>
export type OperatorSession = Awaited<ReturnType<Operator['signIn']>>

let made = 0

/** An operator of the console, inserted into the stores without sign-up, email or password. */
export async function newOperator(app: TestApp, options: NewOperator = {}) {
  const { email = `operator-${++made}@example.com`, roles = {}, isVerified = true } = options
  const { db, clock, gate } = app
  const store = createOperatorStore(db)
  const people = createStore(db)
  await openSystemTenant({ db, clock })
  const { id } = await db.commit(() => {
    const identity = gate.people.add({
      ...{ tenantId: SYSTEM_TENANT_ID, schemaId: 'operator', state: 'active', traits: { email } },
      ...{ metadataPublic: {}, isVerified, credential: undefined, method: 'password' },
    })
    if (options.isAdmin) store.addAdmin(newcomer(identity), clock.now())
    for (const [tenantId, role] of Object.entries(roles))
      store.put(tenantId, newcomer(identity), role, clock.now())
    return identity
  })

  const now = () => gate.people.existing(SYSTEM_TENANT_ID, id)

  /** A new session, opened with one factor. */
  async function signIn() {
    const methods = [{ method: 'password' as const, aal: 'aal1' as const }]
    const device = { ipAddress: null, userAgent: null }
    const { token, session } = await db.commit(() =>
      gate.sessions.open(now(), { assuranceLevel: 'aal1', methods, ...device }),
    )
    const cookie = `${SESSION_COOKIE}=${token}`
    return {
      id: session.id,
      token,
      cookie,
      headers: { cookie },
      api: sessionClient(app, cookie),
      /** Switches to a tenant; null for the installation. */
      actIn: (tenantId: string | null) =>
        db.commit(() => store.putScope({ sessionId: session.id, tenantId })),
      end: () => db.commit(() => people.sessions.revoke(SYSTEM_TENANT_ID, session.id, clock.now())),
    }
  }

  /** Adds an authenticator, so that sessions need a second factor. */
  const enrol = () =>
    db.commit(() => {
      const at = clock.now()
      const times = { createdAt: at, updatedAt: at }
      const totp = { type: 'totp', config: '{}', version: 1 } as const
      people.credentials.put({ tenantId: SYSTEM_TENANT_ID, identityId: id, ...totp, ...times })
    })

  /** Adds the second factor to a session. */
  const showSecondFactor = (sessionId: string) =>
    db.commit(() => {
      const row = gate.sessions.alive(SYSTEM_TENANT_ID, sessionId)
      if (!row) throw new Error('the session has ended')
      gate.sessions.strengthen(row, { method: 'totp', aal: 'aal2' })
    })

  return {
    ...{ id, email, signIn, enrol, showSecondFactor },
    setRole: (tenantId: string, role: Role) =>
      db.commit(() => store.put(tenantId, newcomer({ id }), role, clock.now())),
    leave: (tenantId: string) => db.commit(() => store.remove(tenantId, id)),
    endSessions: () => db.commit(() => void gate.sessions.endAll(now())),
    deactivate: () =>
      db.commit(() => void gate.people.change(now(), { kind: 'system' }, { state: 'inactive' })),
    remove: () => db.commit(() => gate.people.remove(now())),
  }
}

/** A JSON client that uses a session, as a program with its cookie does. */
export function sessionClient(app: Pick<TestApp, 'raw'>, cookie: string) {
  const send = (method: string) => (path: string, body?: unknown) =>
    app.raw(path, {
      method,
      headers: { cookie, ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  const [get, post, put] = [send('GET'), send('POST'), send('PUT')]
  return { get, post, put, patch: send('PATCH'), delete: send('DELETE') }
}
