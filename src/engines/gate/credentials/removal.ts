import { PROVIDERS } from '../../../config/index.ts'
import type { Db } from '../../../db/open.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import { fail, invalid, notFound } from '../../../platform/errors.ts'
import type { People } from '../identities/people.ts'
import type { IdentityRow } from '../identities/store.ts'
import type { Store } from '../store.ts'
import type { SecondFactors } from './second-factor/index.ts'

const TYPES = ['password', 'totp', 'lookup_secret', 'oidc'] as const
type Type = (typeof TYPES)[number]

export type CredentialRemoval = ReturnType<typeof createCredentialRemoval>

/** For a tenant's server, as after a lost authenticator or a compromised social account. */
export function createCredentialRemoval(parts: {
  db: Db
  audit: Audit
  store: Store
  people: People
  secondFactors: SecondFactors
}) {
  const { db, audit, store, people, secondFactors } = parts

  /** Idempotent. Removing the authenticator also removes the recovery codes. */
  async function remove(caller: Caller, identityId: string, type: string): Promise<void> {
    await db.commitFor(caller.tenantId, () => {
      const person = people.existing(caller.tenantId, identityId)
      const known = TYPES.find((one) => one === type)
      if (!known)
        throw invalid(`must be one of ${TYPES.join(', ')}`, { field: 'type', rule: 'choice' })
      take(person, known)
      record(caller, identityId, { type })
    })
  }

  /** Disconnects one social account. Idempotent. */
  async function removeAccount(caller: Caller, identityId: string, name: string): Promise<void> {
    await db.commitFor(caller.tenantId, () => {
      const { tenantId, id } = people.existing(caller.tenantId, identityId)
      const provider = PROVIDERS.find((one) => one === name) ?? fail(notFound('provider not found'))
      store.socialLinks.removeProvider(tenantId, id, provider)
      record(caller, identityId, { type: 'oidc', provider })
    })
  }

  function record({ tenantId, actor }: Caller, identityId: string, detail: Record<string, string>) {
    const object = `identity:${identityId}`
    audit.record({ tenantId, actor, action: 'identity.credential_removed', object, detail })
  }

  function take(person: IdentityRow, type: Type) {
    const { tenantId, id } = person
    if (type === 'totp') secondFactors.removeTotp(person)
    else if (type === 'oidc') store.socialLinks.removeAll(tenantId, id)
    else store.credentials.remove(tenantId, id, type)
  }

  return { remove, removeAccount }
}
