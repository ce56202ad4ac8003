import { newcomer } from '../../../src/console/operators/grantee.ts'
import { SESSION_COOKIE } from '../../../src/console/operators/session-cookie.ts'
import { createOperatorStore } from '../../../src/console/operators/store/index.ts'
import { SYSTEM_TENANT_ID } from '../../../src/platform/system-tenant.ts'
import type { Engine } from '../engine.ts'

/** An operator who owns tenants and is an admin, with a session in each of both scopes. */
export async function addOperator({ db, gate }: Engine, tenantIds: readonly string[]) {
  const now = Date.now()
  const store = createOperatorStore(db)
  const operator = await db.commit(() => {
    const added = gate.people.add(OPERATOR)
    store.addAdmin(newcomer(added), now)
    for (const tenantId of tenantIds) store.put(tenantId, newcomer(added), 'owner', now)
    return added
  })
  const signIn = (tenantId: string | null) =>
    db.commit(() => {
      const { token, session } = gate.sessions.open(
        gate.people.existing(SYSTEM_TENANT_ID, operator.id),
        SIGN_IN,
      )
      store.putScope({ sessionId: session.id, tenantId })
      return { sessionId: session.id, cookie: `${SESSION_COOKIE}=${token}` }
    })
  return {
    id: operator.id,
    tenant: await signIn(tenantIds[0] ?? null),
    installation: await signIn(null),
  }
}

const OPERATOR = {
  tenantId: SYSTEM_TENANT_ID,
  schemaId: 'operator',
  state: 'active' as const,
  traits: { email: 'ada@example.com', display_name: 'Ada Berg' },
  metadataPublic: {},
  isVerified: true,
  credential: undefined,
  method: 'password' as const,
}

const SIGN_IN = {
  assuranceLevel: 'aal1' as const,
  methods: [{ method: 'password', aal: 'aal1' as const }],
  ipAddress: '192.0.2.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
}
