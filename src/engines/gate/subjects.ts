import type { IdentityRow } from './store/identities.ts'
import type { Store } from './store/index.ts'

/**
 * Who is meant by a subject: one of the tenant's people; somebody it cannot speak for, who was
 * deleted or is another tenant's; or else a service, which the tenant calls as it likes.
 */
export type Subject =
  | { kind: 'person'; person: IdentityRow }
  | { kind: 'unknown' }
  | { kind: 'service' }

export type SubjectOf = ReturnType<typeof createSubjectOf>

export const createSubjectOf =
  ({ store }: { store: Store }) =>
  (tenantId: string, name: string): Subject => {
    const person = store.identities.find(tenantId, name)
    if (person) return { kind: 'person', person }
    const isSomebody = store.identities.ownerOf(name) !== undefined || store.erasures.has(name)
    return { kind: isSomebody ? 'unknown' : 'service' }
  }
