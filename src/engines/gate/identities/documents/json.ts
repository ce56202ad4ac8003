import { invalid } from '../../../../platform/errors.ts'

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | JsonObject

export type JsonObject = { [name: string]: Json }

/** Maximum nesting of objects and arrays, as for request bodies; the outermost is level 1. */
export const MAX_LEVELS = 64

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Bytes of its JSON in UTF-8. */
export const jsonBytes = (value: Json): number => Buffer.byteLength(JSON.stringify(value))

/** The nesting depth of objects and arrays; 0 for any other value. */
export function levelsOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  let below = 0
  const items = Array.isArray(value) ? value : Object.values(value)
  for (const item of items) below = Math.max(below, levelsOf(item))
  return below + 1
}

/** Throws `invalid` unless the object is within the limit and survives a JSON round trip. */
export function checkJsonObject(
  value: unknown,
  field: string,
  { mostBytes }: { mostBytes: number },
): asserts value is JsonObject {
  if (!isJsonObject(value)) throw invalid('must be a JSON object', { field, rule: 'type' })
  checkJson(value, field)
  if (jsonBytes(value) > mostBytes) {
    throw invalid(`must be at most ${mostBytes} bytes as JSON`, { field, rule: 'too_large' })
  }
}

/** The same check for values of any type and size. */
export function checkJson(value: unknown, field: string): asserts value is Json {
  requireKeepable(value, field, 1)
}

function requireKeepable(value: unknown, field: string, level: number) {
  if (typeof value === 'number') requireExact(value, field)
  if (typeof value !== 'object' || value === null) return
  if (level > MAX_LEVELS)
    throw invalid(`must not be nested deeper than ${MAX_LEVELS} levels`, {
      field,
      rule: 'too_deep',
    })
  const members = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [name, member] of members) {
    const path = `${field}.${`${name}`.slice(0, 100)}`
    requireName(name, path)
    requireKeepable(member, path, level + 1)
  }
}

function requireExact(value: number, field: string) {
  if (!Number.isFinite(value))
    throw invalid('is too large for a number; send it as a string', { field, rule: 'range' })
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw invalid('would lose digits as a number; send it as a string', { field, rule: 'range' })
}

/** Code that copies members one by one would set the prototype of the copy with `__proto__`. */
function requireName(name: string | number, field: string) {
  if (name === '__proto__') throw invalid('is a reserved member name', { field, rule: 'reserved' })
}
