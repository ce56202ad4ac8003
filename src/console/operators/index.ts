import type { Db } from '../../db/open.ts'
import type { Gate } from '../../engines/gate/index.ts'
import type { Operator } from '../../engines/gate/operators/list.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Mail } from '../../platform/mail/index.ts'
import type { RetentionRule } from '../../platform/retention.ts'
import type { Siblings } from '../../platform/siblings.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { createAdmins } from './admins.ts'
import { createCurrentOperator } from './current-operator.ts'
import { createEntry } from './entry.ts'
import { createGrantees } from './grantees.ts'
import { createInvitations } from './invitations.ts'
import { createLinks, createLoginLinks } from './links.ts'
import { createMemberships } from './memberships.ts'
import { presented } from './presented.ts'
import { createProvisioning } from './provisioning.ts'
import { createOperatorScopes } from './scopes.ts'
import { createSessionCookie, createSessionRate } from './session-cookie.ts'
import { createSignUp, type SignUpSettings } from './sign-up.ts'
import { createOperatorStore, type OperatorStore } from './store/index.ts'

export type Operators = ReturnType<typeof createOperators>

/** Operators of the console: sign-in, tenants and rights. */
export function createOperators(parts: {
  db: Db
  clock: Clock
  audit: Audit
  mail: Mail
  tenants: Tenants
  gate: Gate
  /** The base URL, without a trailing slash. */
  baseUrl: () => string
  signUp: SignUpSettings
  /** Request limit of a session. */
  perMinute: number
  siblings: Siblings
}) {
  const { db, gate, baseUrl } = parts
  const store = createOperatorStore(db)
  const links = createLinks({ ...parts, store })
  const { gateOperators } = gate
  const grantees = createGrantees({ ...parts, store, gateOperators })
  const memberships = createMemberships({ ...parts, store, grantees })
  const admins = createAdmins({ ...parts, store, grantees, gateOperators })
  const pageOf = (name: string) => (token: string) => `${baseUrl()}/console/${name}/${token}`
  const invitations = createInvitations({
    ...parts,
    store,
    memberships,
    pageOf: pageOf('invitation'),
  })
  return {
    /** False until there is an admin, from a set-up link or a command. */
    isSetUp: store.hasAdmin,
    admins,
    links,
    loginLinks: createLoginLinks({ ...parts, links, pageOf: pageOf('link') }),
    memberships,
    invitations,
    provisioning: createProvisioning({
      ...parts,
      store,
      accounts: gateOperators,
      admins,
      memberships,
      grantees,
    }),
    present: (operator: Operator) => presented(store, operator),
    scopes: createOperatorScopes({ db, store }),
    recipients: { ownersOf: store.ownerAddresses, membersOf: store.memberAddresses },
    currentOperator: createCurrentOperator({
      sessions: gateOperators.sessions,
      store,
      rate: createSessionRate(parts),
      cookie: createSessionCookie(parts),
    }),
    entry: createEntry({
      ...parts,
      gateOperators,
      links,
      invitations,
      memberships,
      admins,
      grantees,
    }),
    signUp: createSignUp({ ...parts, store, memberships, gateOperators }),
    retention: linkRetention(store),
  }
}

/** Removes expired links and invitations. */
const linkRetention = (store: OperatorStore): RetentionRule => ({
  name: 'console links',
  deleteSlice: (now, limit) =>
    store.removeExpiredLinks(now, limit) + store.removeExpiredInvitations(now, limit),
})
