import { MAX_DOCUMENT_BYTES } from '../../limits.ts'
import { isJsonObject, type Json, MAX_LEVELS } from './json.ts'
import { applyJsonPatch, type PatchRules } from './json-patch.ts'
import { type Pointer, showPointer } from './pointer.ts'

const PARTS = ['traits', 'metadata_public', 'state'] as const

/** The patchable parts of an identity. The result of a patch must be validated like new input. */
export type Projection = { [name in (typeof PARTS)[number]]?: Json }

/** Room for two documents, plus member names, the address and the tenant. */
const MAX_BYTES = 2 * MAX_DOCUMENT_BYTES + 4096

const RULES: PatchRules = {
  refusal,
  mostOperations: 200,
  mostBytes: MAX_BYTES,
  mostLevels: MAX_LEVELS,
}

/** Applies a JSON Patch to an identity; throws `invalid`, naming the operation at fault. */
export const patchIdentity = (projection: Projection, operations: unknown): Projection =>
  applyJsonPatch(projection, operations, RULES)

/** Whether an applied patch sets the state, even to the same value. */
export const setsState = (operations: readonly unknown[]): boolean =>
  operations.some((one) => isJsonObject(one) && one.op !== 'test' && one.path === '/state')

/** Allows only the three patchable parts by their exact names, and never the tenant. */
function refusal([part = '', name]: Pointer): string | undefined {
  if (!PARTS.some((known) => known === part)) return cannotBePatched(part)
  return part === 'traits' && name === 'tenant_id' ? cannotBePatched(part, name) : undefined
}

const cannotBePatched = (...tokens: string[]) => `${showPointer(tokens)} cannot be patched`
