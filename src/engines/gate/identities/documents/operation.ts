import { fail, invalid } from '../../../../platform/errors.ts'
import { checkJson, isJsonObject, type Json, type JsonObject } from './json.ts'
import { isPointer, type Pointer, readPointer, shortened } from './pointer.ts'

/** One operation of a JSON Patch. */
export type Operation =
  | { op: 'add' | 'replace' | 'test'; path: Pointer; value: Json }
  | { op: 'remove'; path: Pointer }
  | { op: 'move' | 'copy'; path: Pointer; from: Pointer }

/** The reason why a pointer may be neither read nor changed, or undefined if it may. */
export type Refusal = (tokens: Pointer) => string | undefined

const NAMES = ['add', 'remove', 'replace', 'move', 'copy', 'test'] as const

/**
 * Reads an operation; throws `invalid` if it is malformed. Members unknown to RFC 6902 are ignored.
 */
export function readOperation(sent: unknown, refusal: Refusal): Operation {
  if (!isJsonObject(sent)) throw invalid('must be a JSON object', { rule: 'type' })
  const op = NAMES.find((name) => name === sent.op) ?? fail(UNKNOWN)
  const path = placeNamed(sent, 'path', refusal)
  if (op === 'remove') return { op, path }
  if (op === 'move' || op === 'copy') return { op, path, from: placeNamed(sent, 'from', refusal) }
  return { op, path, value: valueIn(sent) }
}

const UNKNOWN = invalid(`must be one of ${NAMES.join(', ')}`, { field: 'op', rule: 'choice' })

/** Describes an operation for error messages, even if it is malformed. */
export function describe(sent: unknown): string {
  if (!isJsonObject(sent)) return ''
  const { op, path, from } = sent
  if (!NAMES.some((name) => name === op) || typeof path !== 'string') return ''
  const takesFrom = (op === 'move' || op === 'copy') && typeof from === 'string'
  return `${op} ${shortened(path) || '""'}${takesFrom ? ` from ${shortened(from)}` : ''}`
}

function placeNamed(sent: JsonObject, member: 'path' | 'from', refusal: Refusal): Pointer {
  const text = sent[member]
  if (typeof text !== 'string')
    throw invalid('is required and must be a JSON Pointer', { field: member, rule: 'required' })
  if (!isPointer(text))
    throw invalid('must be a JSON Pointer (RFC 6901)', { field: member, rule: 'format' })
  const tokens = readPointer(text)
  const refused = refusedAnywhere(tokens) ?? refusal(tokens)
  if (refused !== undefined) throw invalid(refused, { rule: 'not_allowed' })
  return tokens
}

/** Pointers that are refused in every document. */
function refusedAnywhere(tokens: Pointer): string | undefined {
  if (tokens.length === 0) return 'the whole document cannot be patched'
  return tokens.includes('__proto__') ? '__proto__ is a reserved member name' : undefined
}

/** The operation's value. Null is a value; a missing member is an error. */
function valueIn(sent: JsonObject): Json {
  if (!Object.hasOwn(sent, 'value'))
    throw invalid('is required', { field: 'value', rule: 'required' })
  checkJson(sent.value, 'value')
  return sent.value
}
