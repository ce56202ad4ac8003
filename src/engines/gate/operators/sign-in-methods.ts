import { SYSTEM_TENANT_ID } from '../../../platform/system-tenant.ts'
import type { SecondFactors } from '../credentials/second-factor/index.ts'
import type { Store } from '../store.ts'

/** The credentials of an operator, without secrets; undefined for those not set up. */
export interface OperatorSignInMethods {
  /** `since` is when the current password was set. */
  password: { since: number } | undefined
  authenticator: { since: number } | undefined
  recoveryCodes: { since: number; left: number; all: number } | undefined
  /** In the order in which they were connected. */
  accounts: { provider: string; since: number }[]
}

export type SignInMethodsOf = ReturnType<typeof createSignInMethodsOf>

/** The credentials of an operator, for their account page. */
export function createSignInMethodsOf(parts: { store: Store; secondFactors: SecondFactors }) {
  const { store, secondFactors } = parts

  return (operatorId: string): OperatorSignInMethods => {
    const person = { tenantId: SYSTEM_TENANT_ID, id: operatorId }
    const heads = store.credentials.headsOf(SYSTEM_TENANT_ID, operatorId)
    const since = (type: string, at: 'createdAt' | 'updatedAt') => {
      const head = heads.find((one) => one.type === type)
      return head && { since: head[at] }
    }
    const codes = since('lookup_secret', 'createdAt')
    return {
      password: since('password', 'updatedAt'),
      // Each accepted code updates the row, so the time of creation counts.
      authenticator: since('totp', 'createdAt'),
      recoveryCodes: codes && { ...codes, ...secondFactors.countCodes(person) },
      accounts: store.socialLinks
        .of(SYSTEM_TENANT_ID, operatorId)
        .map(({ provider, createdAt }) => ({ provider, since: createdAt })),
    }
  }
}
