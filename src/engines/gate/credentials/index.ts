import type { Clock } from '../../../platform/clock.ts'
import type { IdentityRow } from '../identities/store.ts'
import type { Store } from '../store.ts'
import type { CredentialRow } from './store.ts'

type Person = Pick<IdentityRow, 'tenantId' | 'id'>

export type Credentials = ReturnType<typeof createCredentials>

/** Stored credentials of identities. Every change runs within the caller's commit. */
export function createCredentials({ store, clock }: { store: Store; clock: Clock }) {
  /** The password hash; undefined if the identity has no password. */
  function passwordOf({ tenantId, id }: Person): string | undefined {
    const row = store.credentials.find(tenantId, id, 'password')
    return row && (JSON.parse(row.config) as { hashed_password: string }).hashed_password
  }

  /** Whether the identity can sign in other than by an emailed code. */
  const hasSignInMethod = (person: Person): boolean =>
    passwordOf(person) !== undefined || store.socialLinks.of(person.tenantId, person.id).length > 0

  const setPassword = (person: Person, hash: string) =>
    put(person, 'password', { hashed_password: hash })

  function put({ tenantId, id }: Person, type: CredentialRow['type'], config: object) {
    const now = clock.now()
    const row = { tenantId, identityId: id, type, config: JSON.stringify(config), version: 0 }
    store.credentials.put({ ...row, createdAt: now, updatedAt: now })
  }

  /** Removes every credential, because someone else may have set them on an unverified account. */
  function removeAll({ tenantId, id }: Person) {
    store.credentials.removeAll(tenantId, id)
    store.socialLinks.removeAll(tenantId, id)
    store.codes.removeOfIdentity(tenantId, id)
  }

  return { passwordOf, hasSignInMethod, setPassword, put, removeAll }
}
