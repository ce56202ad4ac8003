import type { Draft } from './shape.ts'

/** An object with more properties counts as a map, whose keys don't predict the next payload. */
export const MAX_PROPERTIES = 200

/** In UTF-16 units. A longer key is data, so its object counts as a map. */
export const MAX_KEY_LENGTH = 200

/** The maximum number of levels of a shape. The payload itself is the first level. */
export const MAX_DEPTH = 12

/** Places in one shape. */
export const MAX_NODES = 1000

/** The size of one shape as JSON text in UTF-8. */
export const MAX_BYTES = 64 * 1024

/**
 * Removes the deepest levels, because payloads agree near the top. The same cut for all branches
 * makes the result independent of which one grew last.
 */
export function keepBounds(draft: Draft) {
  const levels = levelsKept(draft)
  if (levels !== undefined) cut(draft, levels)
}

/** Discards everything known about the contents of objects and arrays at this node. */
export function close(draft: Draft) {
  draft.open = true
  draft.size = undefined
  draft.required = undefined
  draft.properties = undefined
  draft.values = undefined
  draft.items = undefined
}

/** At least one; undefined for all. Stops early, so an oversized shape isn't walked to its end. */
function levelsKept(root: Draft): number | undefined {
  let nodes = 0
  let bytes = 0
  let level = [root]
  for (let depth = 0; level.length > 0; depth++) {
    const below: Draft[] = []
    let keys = 0
    nodes += level.length
    for (const draft of level) {
      bytes += ownBytes(draft)
      if (nodes + below.length <= MAX_NODES) keys += listNodes(draft, below)
    }
    if (nodes > MAX_NODES || bytes > MAX_BYTES) return Math.max(1, depth)
    bytes += keys
    level = below
  }
  return undefined
}

/** Adds the direct children of a node and returns the bytes of their keys. */
function listNodes(draft: Draft, nodes: Draft[]): number {
  let bytes = 0
  if (draft.items !== undefined) nodes.push(draft.items)
  if (draft.values !== undefined) nodes.push(draft.values)
  for (const key in draft.properties) {
    nodes.push(draft.properties[key] as Draft)
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

/** An upper bound for a node's text, open or closed, without its key and the nodes below. */
function ownBytes(draft: Draft): number {
  let bytes = '{"types":127},'.length
  if (draft.format !== undefined) bytes += ',"format":"date-time"'.length
  if (draft.optional) bytes += ',"optional":true'.length
  if (draft.items !== undefined) bytes += ',"open":true'.length
  if (draft.values !== undefined) bytes += ',"open":true'.length
  if (draft.properties !== undefined) bytes += ',"size":200,"required":200,"properties":{}'.length
  return draft.open ? bytes + ',"open":true'.length : bytes
}

/** Plain text takes one byte per character; anything else is counted as if written `\u0000`. */
const keyBytes = (key: string) => (/^[\w .:/-]*$/.test(key) ? key.length : key.length * 6) + 3
