import type { Draft } from './shape.ts'

/** An object with more is taken for a map, whose keys say nothing about the next payload. */
export const MAX_PROPERTIES = 200

/** In UTF-16 units. A longer key is data, so its object is a map. */
export const MAX_KEY_LENGTH = 200

/** Of a shape, the payload itself being the first. */
export const MAX_DEPTH = 12

/** Places in one shape. */
export const MAX_PLACES = 1000

/** One shape as JSON text in UTF-8. */
export const MAX_BYTES = 64 * 1024

/**
 * Makes a shape as small as it has to be by forgetting its deepest levels: what all payloads
 * have in common is near the top, and one rule for all branches keeps the outcome from
 * depending on which of them grew last.
 */
export function keepBounds(draft: Draft) {
  const levels = levelsKept(draft)
  if (levels !== undefined) cut(draft, levels)
}

/** Nothing is known any more of what objects and arrays hold here. */
export function close(draft: Draft) {
  draft.open = true
  draft.size = undefined
  draft.required = undefined
  draft.properties = undefined
  draft.values = undefined
  draft.items = undefined
}

/**
 * How many levels there is room for, the first always, or undefined for all. Level by level,
 * as one that is too large need not be gone through to its end.
 */
function levelsKept(root: Draft): number | undefined {
  let places = 0
  let bytes = 0
  let level = [root]
  for (let depth = 0; level.length > 0; depth++) {
    const below: Draft[] = []
    let keys = 0
    places += level.length
    for (const draft of level) {
      bytes += ownBytes(draft)
      if (places + below.length <= MAX_PLACES) keys += listPlaces(draft, below)
    }
    if (places > MAX_PLACES || bytes > MAX_BYTES) return Math.max(1, depth)
    bytes += keys
    level = below
  }
  return undefined
}

/** Adds the places right below one and returns the bytes of their keys. */
function listPlaces(draft: Draft, places: Draft[]): number {
  let bytes = 0
  if (draft.items !== undefined) places.push(draft.items)
  if (draft.values !== undefined) places.push(draft.values)
  for (const key in draft.properties) {
    places.push(draft.properties[key] as Draft)
    bytes += keyBytes(key)
  }
  return bytes
}

function cut(draft: Draft, levels: number) {
  const holds = draft.properties ?? draft.values ?? draft.items
  if (levels === 1 && holds !== undefined) close(draft)
  if (draft.items !== undefined) cut(draft.items, levels - 1)
  if (draft.values !== undefined) cut(draft.values, levels - 1)
  for (const name in draft.properties) cut(draft.properties[name] as Draft, levels - 1)
}

/**
 * No fewer than the text of a place takes, before and after it is closed, leaving out its key
 * and the places below it.
 */
function ownBytes(draft: Draft): number {
  let bytes = '{"types":127},'.length
  if (draft.format !== undefined) bytes += ',"format":"date-time"'.length
  if (draft.optional) bytes += ',"optional":true'.length
  if (draft.items !== undefined) bytes += ',"open":true'.length
  if (draft.values !== undefined) bytes += ',"open":true'.length
  if (draft.properties !== undefined) bytes += ',"size":200,"required":200,"properties":{}'.length
  return draft.open ? bytes + ',"open":true'.length : bytes
}

/** Plain text takes a byte a character; anything else is counted as if written `\u0000`. */
const keyBytes = (key: string) => (/^[\w .:/-]*$/.test(key) ? key.length : key.length * 6) + 3
