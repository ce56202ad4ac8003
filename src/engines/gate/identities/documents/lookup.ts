import { invalid } from '../../../../platform/errors.ts'
import { isJsonObject, type Json, type JsonObject } from './json.ts'
import { type Pointer, shortened, showPointer } from './pointer.ts'

/**
 * The value at a pointer; throws `invalid` if there is none. Only own members exist: neither the
 * `length` of an array nor inherited properties.
 */
export function valueAt(document: Json, path: Pointer): Json {
  let value = document
  path.forEach((token, index) => {
    const next = below(value, token)
    if (next === undefined)
      throw invalid(`${showPointer(path.slice(0, index + 1))} does not exist`, { rule: 'unknown' })
    value = next
  })
  return value
}

/** The object or array that contains a location, whether or not the location exists. */
export function containerOf(document: Json, path: Pointer): JsonObject | Json[] {
  const outer = path.slice(0, -1)
  const container = valueAt(document, outer)
  if (Array.isArray(container) || isJsonObject(container)) return container
  throw invalid(`${showPointer(outer)} is neither an object nor an array`, { rule: 'type' })
}

export const lastOf = (path: Pointer): string => path[path.length - 1] as string

export const isInside = (path: Pointer, outer: Pointer): boolean =>
  path.length > outer.length && outer.every((token, index) => token === path[index])

function below(value: Json, token: string): Json | undefined {
  if (Array.isArray(value)) return value[readIndex(token)]
  return isJsonObject(value) ? memberOf(value, token) : undefined
}

export const memberOf = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

/** The array index at which to insert; `-` means the end. */
export function indexForNew(array: readonly Json[], token: string): number {
  const index = token === '-' ? array.length : readIndex(token)
  if (index <= array.length) return index
  throw invalid(`index ${shortened(token)} is beyond the end of an array of ${array.length}`, {
    rule: 'range',
  })
}

/** Digits without leading zeros. */
const INDEX = /^(?:0|[1-9]\d*)$/

function readIndex(token: string): number {
  if (INDEX.test(token)) return Number(token)
  throw invalid(
    token === '-'
      ? '- does not exist: it is the position after the last item of an array'
      : `"${shortened(token)}" is not an array index`,
    { rule: 'range' },
  )
}
