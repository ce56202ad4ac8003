import type { People } from '../people.ts'
import { traitsOf } from '../present.ts'
import type { FlowRow } from '../store/flows.ts'
import type { IdentityRow } from '../store/identities.ts'
import type { Store } from '../store/index.ts'
import { byThemselves } from './actor.ts'
import { complain } from './failure.ts'
import type { FlowKeeper } from './flow.ts'

export type AddressProof = ReturnType<typeof createAddressProof>

/**
 * What follows once the owner of an account has shown that a mailbox is theirs. Always within a
 * commit, and never for somebody who has shown the mailbox alone: whoever made the account may be
 * somebody else.
 */
export function createAddressProof(parts: { store: Store; people: People; keeper: FlowKeeper }) {
  const { store, people, keeper } = parts

  const isProven = ({ tenantId, id }: Pick<IdentityRow, 'tenantId' | 'id'>): boolean =>
    store.addresses.of(tenantId, id)?.verifiedAt !== null

  /** Ends a verification: the address is proven, and moved to first where that was asked for. */
  function confirm(flow: FlowRow, person: IdentityRow, address: string): FlowRow {
    const owner = keeper.internalOf(flow).addressChange ? moved(person, address) : person
    if (owner.email === address) people.prove(owner)
    return keeper.complete(flow, { state: 'passed_challenge' })
  }

  /** The address was free when the code went out, which may be a while ago. */
  function moved(person: IdentityRow, email: string): IdentityRow {
    if (person.email === email) return person
    if (store.identities.byEmail(person.tenantId, email)) throw complain(4900010)
    const traits = { ...traitsOf(person), email }
    return people.change(person, byThemselves(person), { traits })
  }

  /** The person has signed in for a verification that waited for that. */
  function resume(flow: FlowRow, person: IdentityRow) {
    const { mailbox } = keeper.internalOf(flow)
    if (flow.completedAt !== null || keeper.isExpired(flow)) return
    if (mailbox?.identityId !== person.id) return
    const isDone = person.email === mailbox.address && isProven(person)
    if (isDone || mailbox.generation === person.sessionGeneration)
      confirm(flow, person, mailbox.address)
  }

  return { isProven, prove: people.prove, confirm, resume }
}
