import { invalid } from '../../../../platform/errors.ts'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  jsonBytes,
} from '../../identities/documents/json.ts'

/** Maximum size, in bytes of JSON. */
const MAX_BYTES = 8192

/** Maximum nesting; the context itself is the first level. */
const MAX_LEVELS = 8

/** Member names that policies would take for an entity reference, a call or a prototype. */
export const RESERVED_MEMBERS: ReadonlySet<string> = new Set([
  '__entity',
  '__extn',
  '__expr',
  '__proto__',
])

/**
 * Validates the context of a question. Policies support booleans, integers, strings, sets and
 * records; anything else throws `invalid` with its path.
 */
export function checkContext(value: unknown): JsonObject {
  if (!isJsonObject(value))
    throw invalid('must be a JSON object', { field: 'context', rule: 'type' })
  check(value, 'context', 1)
  if (jsonBytes(value) > MAX_BYTES) {
    throw invalid(`must be at most ${MAX_BYTES / 1024} KB as JSON`, {
      field: 'context',
      rule: 'too_large',
    })
  }
  return value
}

function check(value: Json, path: string, level: number) {
  const flaw = flawOf(value)
  if (flaw !== undefined) throw invalid(flaw, { field: path, rule: 'type' })
  if (typeof value !== 'object' || value === null) return
  if (level > MAX_LEVELS)
    throw invalid(`must not be nested deeper than ${MAX_LEVELS} levels`, {
      field: 'context',
      rule: 'too_deep',
    })
  if (Array.isArray(value)) checkItems(value, path, level)
  else checkMembers(value, path, level)
}

function checkItems(items: readonly Json[], path: string, level: number) {
  for (let index = 0; index < items.length; index++) {
    check(items[index] as Json, `${path}[${index}]`, level + 1)
  }
}

function checkMembers(members: JsonObject, path: string, level: number) {
  for (const [name, value] of Object.entries(members)) {
    const at = `${path}${step(name)}`
    if (RESERVED_MEMBERS.has(name))
      throw invalid('is a reserved member name', { field: at, rule: 'reserved' })
    if (!name.isWellFormed())
      throw invalid('must have a name in valid Unicode', { field: at, rule: 'characters' })
    check(value, at, level + 1)
  }
}

const step = (name: string): string =>
  /^[A-Za-z_]\w{0,99}$/.test(name) ? `.${name}` : `[${JSON.stringify(name.slice(0, 100))}]`

function flawOf(value: Json): string | undefined {
  if (value === null) return 'must not be null; leave the member out'
  if (typeof value === 'number') return flawOfNumber(value)
  if (typeof value === 'string' && !value.isWellFormed()) return 'must be valid Unicode'
  return undefined
}

/** Larger integers have lost digits when the question was parsed. */
function flawOfNumber(value: number): string | undefined {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    return `must be at most ${Number.MAX_SAFE_INTEGER}; send larger numbers as strings`
  }
  if (Number.isInteger(value)) return undefined
  return 'must be a whole number; send fractions as strings'
}
