import type { IdentityRow } from '../identities/store.ts'
import type { Store } from '../store.ts'

/** An identity; unknown if deleted or of another tenant; otherwise a service the tenant named. */
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
