import { LARGEST_DOCUMENT } from '../limits.ts'
import { isJsonObject, type Json, MOST_LEVELS } from './json.ts'
import { applyJsonPatch, type PatchRules } from './json-patch.ts'
import { type Pointer, showPointer } from './pointer.ts'

const PARTS = ['traits', 'metadata_public', 'state'] as const

/**
 * What of an identity can be patched. A patch may leave out a part or make anything of it: what
 * comes out is to be checked like something that was sent.
 */
export type Projection = { [name in (typeof PARTS)[number]]?: Json }

/** Two documents, and beside them the names of members, the address and the tenant. */
const MOST_BYTES = 2 * LARGEST_DOCUMENT + 4096

const RULES: PatchRules = {
  refusal,
  mostOperations: 200,
  mostBytes: MOST_BYTES,
  mostLevels: MOST_LEVELS,
}

/** RFC 6902 on an identity; throws `invalid`, naming the operation that is to blame. */
export const patchIdentity = (projection: Projection, operations: unknown): Projection =>
  applyJsonPatch(projection, operations, RULES)

/** Whether a patch that was carried out sets the state, be it to what it was before. */
export const setsState = (operations: readonly unknown[]): boolean =>
  operations.some((one) => isJsonObject(one) && one.op !== 'test' && one.path === '/state')

/** Only the three parts can be patched, by exactly these names, and not the tenant. */
function refusal([part = '', name]: Pointer): string | undefined {
  if (!PARTS.some((known) => known === part)) return cannotBePatched(part)
  return part === 'traits' && name === 'tenant_id' ? cannotBePatched(part, name) : undefined
}

const cannotBePatched = (...tokens: string[]) => `${showPointer(tokens)} cannot be patched`
