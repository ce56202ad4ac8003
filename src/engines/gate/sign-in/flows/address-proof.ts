import type { Audit } from '../../../../platform/audit/index.ts'
import type { Credentials } from '../../credentials/index.ts'
import type { People } from '../../identities/people.ts'
import { traitsOf } from '../../identities/present.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { Store } from '../../store.ts'
import { byThemselves, recordOwn } from './actor.ts'
import { fieldError } from './failure.ts'
import type { FlowRepository } from './flow.ts'
import type { FlowRow } from './store.ts'

export type AddressProof = ReturnType<typeof createAddressProof>

/**
 * What follows from the proof of a mailbox, always within a commit. Unless stated otherwise, the
 * account's owner has given it: someone else may have created the account with that address.
 */
export function createAddressProof(parts: {
  store: Store
  audit: Audit
  people: People
  credentials: Credentials
  repository: FlowRepository
}) {
  const { store, audit, people, credentials, repository } = parts

  const isProven = ({ tenantId, id }: Pick<IdentityRow, 'tenantId' | 'id'>): boolean =>
    store.addresses.of(tenantId, id)?.verifiedAt !== null

  /** Marks the address as verified and, if a change was requested, makes it the account's. */
  function confirm(flow: FlowRow, person: IdentityRow, address: string): FlowRow {
    const owner = repository.internalOf(flow).addressChange ? moved(person, address) : person
    if (owner.email === address) people.prove(owner)
    return repository.complete(flow, { state: 'passed_challenge' })
  }

  /** Changes the address, which may have been taken since the code was sent. */
  function moved(person: IdentityRow, email: string): IdentityRow {
    if (person.email === email) return person
    if (store.identities.byEmail(person.tenantId, email)) throw fieldError(4900010)
    const traits = { ...traitsOf(person), email }
    return people.change(person, byThemselves(person), { traits })
  }

  /** Resumes a verification that required a sign-in first. */
  function resume(flow: FlowRow, person: IdentityRow) {
    const { mailbox } = repository.internalOf(flow)
    if (flow.completedAt !== null || repository.isExpired(flow)) return
    if (mailbox?.identityId !== person.id) return
    const isDone = person.email === mailbox.address && isProven(person)
    if (isDone || mailbox.generation === person.sessionGeneration)
      confirm(flow, person, mailbox.address)
  }

  /**
   * Accepts proof of access to the mailbox. If the address was never verified, someone else may have
   * created the account, so all credentials are removed and they cannot come back.
   */
  function proveByMailbox(person: IdentityRow): IdentityRow {
    if (isProven(person)) return person
    credentials.removeAll(person)
    recordOwn(audit, person, 'identity.credentials_wiped')
    people.prove(person)
    return people.endAccess(person)
  }

  return { isProven, prove: people.prove, proveByMailbox, confirm, resume }
}
