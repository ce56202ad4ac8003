import type { Db } from '../../../db/open.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import { invalid } from '../../../platform/errors.ts'
import type { Metering } from '../../../platform/metering/index.ts'
import type { NewCredential } from '../credentials/new-credential.ts'
import type { Store } from '../store.ts'
import { normaliseEmail } from './email.ts'
import type { Erasure } from './erasure.ts'
import { createIdentityList } from './list.ts'
import type { IdentityDetail, NewIdentity } from './model.ts'
import { emailTaken, type People } from './people.ts'
import { presentCredentials, presentIdentity } from './present.ts'
import type { IdentityRow, State } from './store.ts'
import { checkMetadata, checkTraits } from './traits.ts'

export type Identities = ReturnType<typeof createIdentities>

/** Identities of a tenant: contract/gate, identity management. */
export function createIdentities(parts: {
  db: Db
  audit: Audit
  store: Store
  people: People
  erasure: Erasure
  newCredential: NewCredential
  schemaUrl: (schemaId: string) => string
  metering: Metering
}) {
  const { db, audit, store, people, erasure, newCredential, schemaUrl, metering } = parts

  const present = (row: IdentityRow): IdentityDetail => ({
    ...presentIdentity(row, store.addresses.of(row.tenantId, row.id), schemaUrl),
    credentials: presentCredentials(
      row,
      store.credentials.headsOf(row.tenantId, row.id),
      store.socialLinks.of(row.tenantId, row.id),
    ),
  })

  const get = ({ tenantId }: Caller, id: string): IdentityDetail =>
    present(people.existing(tenantId, id))

  /** Also undefined for an identity of another tenant, so that its existence is not revealed. */
  function find({ tenantId }: Caller, id: string): IdentityDetail | undefined {
    const row = store.identities.find(tenantId, id)
    return row && present(row)
  }

  /** The number of identities in a state, counted up to `most`. */
  const count = ({ tenantId }: Caller, state: State, most: number): number =>
    store.identities.count(tenantId, state, most)

  async function create(caller: Caller, input: NewIdentity): Promise<IdentityDetail> {
    const { tenantId } = caller
    const traits = checkTraits(input.traits)
    const { metadata_public: metadataPublic = {}, state = 'active' } = input
    checkMetadata(metadataPublic)
    const isVerified = isProven(input, traits.email)
    const makeCredential = newCredential(tenantId, input.credentials)
    metering.reserve(caller)
    // Checked again within the commit; this early check avoids the cost of a useless hash.
    if (store.identities.byEmail(tenantId, traits.email)) throw emailTaken()
    const credential = await makeCredential()
    return db.commitFor(tenantId, () => {
      const person = people.add({
        tenantId,
        schemaId: input.schema_id,
        state,
        traits,
        metadataPublic,
        isVerified,
        credential,
        method: 'password',
      })
      record(caller, 'identity.created', person.id)
      return present(person)
    })
  }

  /** Deletes the identity immediately; data about it in other tables is erased afterwards. */
  async function remove(caller: Caller, id: string): Promise<void> {
    const { tenantId } = caller
    await db.commitFor(tenantId, () => {
      const person = people.existing(tenantId, id)
      people.remove(person)
      erasure.request(person)
      record(caller, 'identity.deleted', id)
    })
    await erasure.begin(tenantId, id)
  }

  const record = ({ tenantId, actor }: Caller, action: string, id: string) =>
    audit.record({ tenantId, actor, action, object: `identity:${id}` })

  return { create, get, find, count, list: createIdentityList({ store, present }), remove, present }
}

/** Imports can state that an address was verified by another system. */
function isProven({ verifiable_addresses: addresses = [] }: NewIdentity, email: string): boolean {
  for (const { value } of addresses) {
    if (normaliseEmail(value, 'verifiable_addresses.value') !== email)
      throw invalid('must be the address in traits.email', {
        field: 'verifiable_addresses.value',
        rule: 'mismatch',
      })
  }
  return addresses.some(({ verified }) => verified === true)
}
