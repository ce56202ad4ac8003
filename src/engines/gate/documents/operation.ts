import { fail, invalid } from '../../../platform/errors.ts'
import { checkJson, isJsonObject, type Json, type JsonObject } from './json.ts'
import { isPointer, type Pointer, readPointer, shortened } from './pointer.ts'

/** One step of a JSON Patch. */
export type Operation =
  | { op: 'add' | 'replace' | 'test'; path: Pointer; value: Json }
  | { op: 'remove'; path: Pointer }
  | { op: 'move' | 'copy'; path: Pointer; from: Pointer }

/** Why a place may be neither changed nor read, or undefined where it may. */
export type Refusal = (tokens: Pointer) => string | undefined

const NAMES = ['add', 'remove', 'replace', 'move', 'copy', 'test'] as const

/** Throws `invalid` unless it is one. Members that RFC 6902 does not know are ignored. */
export function readOperation(sent: unknown, refusal: Refusal): Operation {
  if (!isJsonObject(sent)) throw invalid('must be a JSON object', { rule: 'type' })
  const op = NAMES.find((name) => name === sent.op) ?? fail(UNKNOWN)
  const path = placeNamed(sent, 'path', refusal)
  if (op === 'remove') return { op, path }
  if (op === 'move' || op === 'copy') return { op, path, from: placeNamed(sent, 'from', refusal) }
  return { op, path, value: valueIn(sent) }
}

const UNKNOWN = invalid(`must be one of ${NAMES.join(', ')}`, { field: 'op', rule: 'choice' })

/** What was asked for, in words, as far as that can be told. */
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

/** In whatever document. */
function refusedAnywhere(tokens: Pointer): string | undefined {
  if (tokens.length === 0) return 'the whole document cannot be patched'
  return tokens.includes('__proto__') ? '__proto__ is a reserved member name' : undefined
}

/** Null is a value; a missing member is a mistake. */
function valueIn(sent: JsonObject): Json {
  if (!Object.hasOwn(sent, 'value'))
    throw invalid('is required', { field: 'value', rule: 'required' })
  checkJson(sent.value, 'value')
  return sent.value
}
