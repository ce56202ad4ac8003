import { invalid } from '../../../platform/errors.ts'

/** What JSON can say. */
export type Json = null | boolean | number | string | Json[] | JsonObject

export type JsonObject = { [name: string]: Json }

/** Levels of objects and arrays, the outermost being the first: as many as a body may have. */
export const MOST_LEVELS = 64

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Bytes of its JSON in UTF-8. */
export const jsonBytes = (value: Json): number => Buffer.byteLength(JSON.stringify(value))

/** How many levels of objects and arrays a value has, none if it is neither. */
export function levelsOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  let below = 0
  const items = Array.isArray(value) ? value : Object.values(value)
  for (const item of items) below = Math.max(below, levelsOf(item))
  return below + 1
}

/**
 * Throws `invalid`, beginning with the member it is about, unless the value is an object that
 * can be kept: small enough, and the same when it is read again.
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

/** The same for a value of any kind and size. */
export function checkJson(value: unknown, field: string): asserts value is Json {
  const flaw = flawIn(value, 1)
  if (flaw !== undefined) throw invalid(`${field}${flaw}`)
}

/** What is wrong with a value, after where in it that is: `.a.0: loses …`. */
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

/** To whoever copies members one by one, `__proto__` is what the copy inherits from. */
function flawInObject(object: object, level: number): string | undefined {
  for (const [name, value] of Object.entries(object)) {
    const flaw = name === '__proto__' ? ': no member may have this name' : flawIn(value, level + 1)
    if (flaw !== undefined) return `.${name.slice(0, 100)}${flaw}`
  }
  return undefined
}
