import { invalid } from '../../../platform/errors.ts'

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | JsonObject

export type JsonObject = { [name: string]: Json }

/**
 * Maximum nesting of objects and arrays, as for request bodies; the outermost is the first level.
 */
export const MOST_LEVELS = 64

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

/**
 * Throws `invalid`, naming the field, unless the value is an object that can be stored: within the
 * size limit, and unchanged after a round trip through JSON.
 */
export function checkJsonObject(
  value: unknown,
  field: string,
  { mostBytes }: { mostBytes: number },
): asserts value is JsonObject {
  if (!isJsonObject(value)) throw invalid(`${field}: expected a JSON object`)
  checkJson(value, field)
  if (jsonBytes(value) > mostBytes) {
    throw invalid(`${field}: larger than ${mostBytes} bytes as JSON`)
  }
}

/** The same check for values of any type and size. */
export function checkJson(value: unknown, field: string): asserts value is Json {
  const flaw = flawIn(value, 1)
  if (flaw !== undefined) throw invalid(`${field}${flaw}`)
}

/** The first flaw of a value, prefixed with its path: `.a.0: loses …`. */
function flawIn(value: unknown, level: number): string | undefined {
  if (typeof value === 'number') return flawInNumber(value)
  if (typeof value !== 'object' || value === null) return undefined
  if (level > MOST_LEVELS) return `: nested deeper than ${MOST_LEVELS} levels`
  return Array.isArray(value) ? flawInArray(value, level) : flawInObject(value, level)
}

function flawInNumber(value: number): string | undefined {
  if (!Number.isFinite(value)) return ': too large for a number; send it as a string'
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return undefined
  return ': loses digits as a number; send it as a string'
}

function flawInArray(items: readonly unknown[], level: number): string | undefined {
  for (let index = 0; index < items.length; index++) {
    const flaw = flawIn(items[index], level + 1)
    if (flaw !== undefined) return `.${index}${flaw}`
  }
  return undefined
}

/** A member named `__proto__` would set the prototype when members are copied one by one. */
function flawInObject(object: object, level: number): string | undefined {
  for (const [name, value] of Object.entries(object)) {
    const flaw = name === '__proto__' ? ': no member may have this name' : flawIn(value, level + 1)
    if (flaw !== undefined) return `.${name.slice(0, 100)}${flaw}`
  }
  return undefined
}
