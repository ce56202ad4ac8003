import type { People } from '../../identities/people.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { Traits } from '../../identities/traits.ts'
import type { Store } from '../../store.ts'
import type { Client } from './client.ts'
import type { Completed, Completion, Proof } from './completion.ts'
import { fieldError } from './failure.ts'
import type { VerificationCodes } from './kinds/verification/codes.ts'
import type { FlowRow } from './store.ts'

/** A user who signs up, and how. */
export interface Newcomer {
  traits: Traits
  /** Whether control of the mailbox is proven. */
  isVerified: boolean
  proof: Proof
  /** Stores the credential of the new identity. */
  addCredential?: (person: IdentityRow) => void
}

export type SignUp = ReturnType<typeof createSignUp>

/** Creates the identities of users who sign up, and signs them in. */
export function createSignUp(parts: {
  store: Store
  people: People
  verificationCodes: VerificationCodes
  completion: Completion
}) {
  const { store, people, verificationCodes, completion } = parts

  /** Throws if an account has the address. */
  function requireFree({ tenantId }: FlowRow, { email }: Traits) {
    if (store.identities.byEmail(tenantId, email)) throw fieldError(4000007)
  }

  /** Within the commit that checked the proof. */
  function signUp(flow: FlowRow, newcomer: Newcomer, client: Client): Completed {
    const { traits, isVerified, proof, addCredential } = newcomer
    requireFree(flow, traits)
    const method = proof.method === 'oidc' ? 'oidc' : 'password'
    const person = people.addByThemselves(flow.tenantId, traits, method)
    addCredential?.(person)
    if (isVerified) people.prove(person)
    const continueWith = isVerified ? [] : verificationCodes.sendToNewcomer(flow, person, client)
    return { ...completion.signUp(flow, person, proof, client), continueWith }
  }

  return { requireFree, signUp }
}
