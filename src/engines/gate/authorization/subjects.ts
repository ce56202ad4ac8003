import type { IdentityRow } from '../identities/store.ts'
import type { Store } from '../store.ts'

/**
 * The meaning of a subject: an identity of the tenant; an unknown one, which was deleted or belongs
 * to another tenant; or else a service, with a name that the tenant chose.
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
