import type { IdentityRow } from '../../engines/gate/identities/store.ts'
import type { OperatorList } from '../../engines/gate/operators/list.ts'
import type { Actor } from '../../platform/audit/index.ts'
import type { Mail } from '../../platform/mail/index.ts'
import type { Plan, Tenants } from '../../platform/tenants.ts'
import { newcomer } from './grantee.ts'
import type { Memberships } from './memberships.ts'
import type { OperatorStore } from './store/index.ts'

/** Whether anyone can sign up and get a tenant, and the plan of such tenants. */
export interface SignUpSettings {
  isOpen: boolean
  plan: Plan
}

export type SignUp = ReturnType<typeof createSignUp>

/**
 * The tenant that comes with a new account. With a mail server, it is created after verification:
 * an owner who takes the account over must find no keys, endpoints or members of a stranger.
 */
export function createSignUp(parts: {
  store: OperatorStore
  memberships: Memberships
  tenants: Pick<Tenants, 'add'>
  mail: Pick<Mail, 'hasServer'>
  gateOperators: { operatorList: OperatorList }
  signUp: SignUpSettings
}) {
  const { store, memberships, tenants, mail } = parts
  const { operatorList } = parts.gateOperators
  const { isOpen, plan } = parts.signUp

  /** Creates the tenant of a new operator, within the commit of the sign-up or of the verification. */
  function welcome({ id, email, traits }: IdentityRow) {
    if (!isWithoutTenant(id) || needsProof(id)) return
    const actor: Actor = { kind: 'operator', id }
    const { display_name: name } = JSON.parse(traits) as { display_name?: string }
    const tenant = tenants.add(actor, { name: firstTenantName({ name, email }), plan })
    memberships.give(actor, tenant.id, newcomer({ id }), 'owner')
  }

  /** Whether an operator gets a tenant by verifying the address. */
  const isWaiting = (id: string): boolean => isWithoutTenant(id) && needsProof(id)

  const isWithoutTenant = (id: string): boolean =>
    isOpen && !store.isAdmin(id) && memberships.of(id).length === 0

  const needsProof = (id: string): boolean => mail.hasServer && !operatorList.isVerified(id)

  return { welcome, isWaiting }
}

/** Most characters of the name, which leaves room for the suffix. */
const MAX_LENGTH = 80

/** Default name of the tenant of a new operator, from their name or email address. Always a valid name. */
export function firstTenantName({ name, email }: { name: string | undefined; email: string }) {
  const who = name ?? email.slice(0, email.lastIndexOf('@'))
  const [...letters] = who
  return `${letters.slice(0, MAX_LENGTH).join('').trim()}’s team`
}
