import { HOUSE_ID } from '../../../platform/house.ts'
import type { SecondFactors } from '../second-factor/index.ts'
import type { Store } from '../store/index.ts'

/** By what somebody gets in; undefined is what they have not set up. Nothing of it is secret. */
export interface WaysIn {
  /** Since when it is the one that it is. */
  password: { since: number } | undefined
  authenticator: { since: number } | undefined
  recoveryCodes: { since: number; left: number; all: number } | undefined
  /** In the order in which they were linked. */
  accounts: { provider: string; since: number }[]
}

export type HouseWays = ReturnType<typeof createHouseWays>

/** How an operator gets in, for themselves to look at. */
export function createHouseWays(parts: { store: Store; secondFactors: SecondFactors }) {
  const { store, secondFactors } = parts

  return (operatorId: string): WaysIn => {
    const person = { tenantId: HOUSE_ID, id: operatorId }
    const heads = store.credentials.headsOf(HOUSE_ID, operatorId)
    const since = (type: string, at: 'createdAt' | 'updatedAt') => {
      const head = heads.find((one) => one.type === type)
      return head && { since: head[at] }
    }
    const codes = since('lookup_secret', 'createdAt')
    return {
      password: since('password', 'updatedAt'),
      // Each code that is taken is written down with it, which changes nothing of it.
      authenticator: since('totp', 'createdAt'),
      recoveryCodes: codes && { ...codes, ...secondFactors.countCodes(person) },
      accounts: store.socialLinks
        .of(HOUSE_ID, operatorId)
        .map(({ provider, createdAt }) => ({ provider, since: createdAt })),
    }
  }
}
