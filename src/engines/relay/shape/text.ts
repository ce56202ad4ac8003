import { MAX_DEPTH } from './bounds.ts'
import { FORMATS } from './formats.ts'
import { blank, type Draft, noProperties, type Shape } from './shape.ts'
import { EVERY_TYPE } from './types.ts'

/**
 * Reads the output of `JSON.stringify`. Undefined if it is not a valid shape, which is then learned
 * again.
 */
export function asShape(text: string): Shape | undefined {
  try {
    return draftOf(JSON.parse(text), 1)
  } catch {
    return undefined
  }
}

/** `JSON.parse` gives objects a prototype, in which `toString` would be a known property. */
function draftOf(stored: unknown, level: number): Draft {
  if (!isRecord(stored) || level > MAX_DEPTH) throw new TypeError('not a shape')
  const draft = blank()
  draft.types = typesOf(stored.types)
  draft.format = FORMATS.find((format) => format === stored.format)
  if (stored.optional === true) draft.optional = true
  if (stored.open === true) draft.open = true
  if (stored.items !== undefined) draft.items = draftOf(stored.items, level + 1)
  if (stored.values !== undefined) draft.values = draftOf(stored.values, level + 1)
  else if (stored.properties !== undefined) readProperties(draft, stored.properties, level)
  return draft
}

function readProperties(draft: Draft, stored: unknown, level: number) {
  if (!isRecord(stored)) throw new TypeError('not the properties of a shape')
  const nodes = Object.entries(stored).map(
    ([key, node]) => [key, draftOf(node, level + 1)] as const,
  )
  draft.properties = noProperties()
  for (const [key, node] of nodes) draft.properties[key] = node
  draft.size = nodes.length
  draft.required = nodes.filter(([, node]) => !node.optional).length
}

function typesOf(stored: unknown): number {
  const types = Number.isInteger(stored) ? (stored as number) : 0
  if (types < 1 || types > EVERY_TYPE) throw new TypeError('not a set of types')
  return types
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
