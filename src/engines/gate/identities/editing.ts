import type { Db } from '../../../db/open.ts'
import type { Caller } from '../../../platform/caller.ts'
import { invalid } from '../../../platform/errors.ts'
import { isJsonObject, type JsonObject } from './documents/json.ts'
import { mergePatch } from './documents/merge-patch.ts'
import { type Projection, patchIdentity, setsState } from './documents/projection.ts'
import type { Identities } from './index.ts'
import type { IdentityDetail } from './model.ts'
import type { MoveNotice } from './move-notice.ts'
import type { Change, People } from './people.ts'
import { metadataOf, traitsOf } from './present.ts'
import type { IdentityRow, State } from './store.ts'
import { checkMetadata, checkTraits, schemaOf } from './traits.ts'

export type Editing = ReturnType<typeof createEditing>

/** Changes to identities, each read, changed and written in one commit. */
export function createEditing(parts: {
  db: Db
  people: People
  identities: Identities
  moveNotice: MoveNotice
}) {
  const { db, people, identities, moveNotice } = parts

  /** Returns the identity as of this commit; a later commit may change it again. */
  async function edit<Shown>(
    caller: Caller,
    id: string,
    change: (row: IdentityRow) => Change,
    show: (row: IdentityRow) => Shown,
  ): Promise<Shown> {
    const { shown } = await db.commitFor(caller.tenantId, () => {
      const row = people.existing(caller.tenantId, id)
      const wanted = change(row)
      if (wanted.traits) moveNotice(caller.actor, row, wanted.traits.email)
      return { shown: show(people.change(row, caller.actor, wanted)) }
    })
    return shown
  }

  const changed = (
    caller: Caller,
    id: string,
    change: (row: IdentityRow) => Change,
  ): Promise<IdentityDetail> => edit(caller, id, change, identities.present)

  /** Applies a JSON Patch (RFC 6902): all operations or none. */
  const patch = (caller: Caller, id: string, operations: unknown[]): Promise<IdentityDetail> =>
    changed(caller, id, (row) => {
      const { state, ...change } = changeTo(row, patchIdentity(projectionOf(row), operations))
      return setsState(operations) ? { ...change, state } : change
    })

  const setState = (caller: Caller, id: string, state: State): Promise<IdentityDetail> =>
    changed(caller, id, () => ({ state }))

  const metadata = (caller: Caller, id: string): JsonObject =>
    metadataOf(people.existing(caller.tenantId, id))

  /** Applies a JSON Merge Patch (RFC 7396). */
  const mergeMetadata = (caller: Caller, id: string, patch: JsonObject): Promise<JsonObject> =>
    edit(caller, id, (row) => ({ metadataPublic: merged(row, patch) }), metadataOf)

  return { patch, setState, metadata, mergeMetadata }
}

/** The patchable part of an identity. It contains no secrets. */
const projectionOf = (row: IdentityRow): Projection => ({
  traits: { ...traitsOf(row), tenant_id: row.tenantId },
  metadata_public: metadataOf(row),
  state: row.state,
})

function merged(row: IdentityRow, patch: JsonObject): JsonObject {
  const metadata = mergePatch(metadataOf(row), patch)
  checkMetadata(metadata)
  return metadata
}

/** Validates a patched projection like new input. */
function changeTo(
  { tenantId }: IdentityRow,
  { traits, metadata_public: metadataPublic = {}, state }: Projection,
): Required<Change> {
  if (!isJsonObject(traits))
    throw invalid('is required and must be a JSON object', { field: 'traits', rule: 'required' })
  checkMetadata(metadataPublic)
  if (state !== 'active' && state !== 'inactive')
    throw invalid('must be one of active, inactive', { field: 'state', rule: 'choice' })
  return { traits: checkTraits(traits, schemaOf(tenantId)), metadataPublic, state }
}
