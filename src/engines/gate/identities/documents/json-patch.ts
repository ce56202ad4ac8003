import { AppError, invalid, renamed } from '../../../../platform/errors.ts'
import { createDraft, type Draft, type Room } from './draft.ts'
import type { JsonObject } from './json.ts'
import { describe, type Operation, type Refusal, readOperation } from './operation.ts'

export interface PatchRules extends Room {
  /** Called for every pointer of an operation, including `from`, with decoded tokens. */
  refusal: Refusal
  mostOperations: number
}

/** Applies RFC 6902 to a copy. Throws `invalid` with the failed operation's index, from 0. */
export function applyJsonPatch(
  document: JsonObject,
  operations: unknown,
  { refusal, mostOperations, ...room }: PatchRules,
): JsonObject {
  const draft = createDraft(document, room)
  requireList(operations, mostOperations).forEach((sent, index) => {
    try {
      carryOut(readOperation(sent, refusal), draft)
    } catch (error) {
      throw error instanceof AppError ? blame(index, sent, error) : error
    }
  })
  return draft.document
}

function requireList(operations: unknown, most: number): unknown[] {
  if (Array.isArray(operations) && operations.length <= most) return operations
  throw invalid(`must be an array of up to ${most} operations`, { field: 'body', rule: 'type' })
}

function blame(index: number, sent: unknown, error: AppError): AppError {
  const asked = describe(sent)
  return renamed(error, (field) => field, `operation ${index}${asked && ` (${asked})`}`)
}

function carryOut(operation: Operation, draft: Draft) {
  if (operation.op === 'remove') draft.remove(operation.path)
  else if ('from' in operation) draft[operation.op](operation.from, operation.path)
  else draft[operation.op](operation.path, operation.value)
}
