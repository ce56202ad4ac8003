import { close, MAX_KEY_LENGTH, MAX_PROPERTIES } from './bounds.ts'
import { formatOf, hasFormat } from './formats.ts'
import { countNode, type Room } from './room.ts'
import { blank, type Draft, noProperties, type Shape } from './shape.ts'
import { ARRAY, BOOLEAN, INTEGER, NULL, NUMBER, OBJECT, STRING, unite } from './types.ts'

type Properties = Record<string, unknown>

/** Adds a value parsed by `JSON.parse`. `level` is the level of the node, from 1. */
export function observe(draft: Draft, value: unknown, level: number, room: Room) {
  if (typeof value === 'string') observeString(draft, value)
  else if (typeof value === 'number') addTypes(draft, Number.isInteger(value) ? INTEGER : NUMBER)
  else if (typeof value === 'boolean') addTypes(draft, BOOLEAN)
  else if (typeof value !== 'object' || value === null) addTypes(draft, NULL)
  else if (Array.isArray(value)) observeArray(draft, value, level, room)
  else observeObject(draft, value as Properties, level, room)
}

/** Adds everything another shape knows, as if its payloads were observed. */
export function absorb(draft: Draft, shape: Shape) {
  if (shape.types & STRING) {
    const agreed = !(draft.types & STRING) || draft.format === shape.format
    draft.format = agreed ? shape.format : undefined
  }
  addTypes(draft, shape.types)
  if (shape.open) close(draft)
  if (draft.open) return
  if (shape.items !== undefined) absorb(itemsOf(draft), shape.items)
  if (shape.values !== undefined) absorb(valuesOf(draft), shape.values)
  if (shape.properties !== undefined) absorbProperties(draft, shape.properties)
}

function addTypes(draft: Draft, types: number) {
  draft.types = unite(draft.types, types)
}

function observeString(draft: Draft, text: string) {
  if (!(draft.types & STRING)) draft.format = formatOf(text)
  else if (draft.format !== undefined && !hasFormat(text, draft.format)) draft.format = undefined
  addTypes(draft, STRING)
}

/** Observes all items: a schema of only the first hundred would not be valid for the array. */
function observeArray(draft: Draft, array: unknown[], level: number, room: Room) {
  addTypes(draft, ARRAY)
  if (level >= room.deepest) close(draft)
  if (draft.open) return
  if (draft.items === undefined) countNode(room, level + 1)
  for (const item of array) observe(itemsOf(draft), item, level + 1, room)
}

function observeObject(draft: Draft, object: Properties, level: number, room: Room) {
  addTypes(draft, OBJECT)
  if (level >= room.deepest) close(draft)
  if (draft.open) return
  const optional = startObject(draft)
  if (draft.properties !== undefined && isLarge(object)) valuesOf(draft)
  let met = 0
  for (const key in object) {
    const node = propertyOf(draft, key, optional)
    if (node.types === 0) countNode(room, level + 1)
    if (!node.optional) met++
    observe(node, object[key], level + 1, room)
  }
  if (met !== draft.required) noteMissing(draft, object)
}

/** Checked first, so that no properties of a map are created only to be merged. */
function isLarge(object: Properties): boolean {
  let size = 0
  for (const _ in object) {
    if (++size > MAX_PROPERTIES) return true
  }
  return false
}

function absorbProperties(draft: Draft, properties: Readonly<Record<string, Shape>>) {
  const optional = startObject(draft)
  let met = 0
  for (const key in properties) {
    const shape = properties[key] as Shape
    const node = propertyOf(draft, key, optional)
    if (shape.optional) makeOptional(draft, node)
    if (!node.optional) met++
    absorb(node, shape)
  }
  if (met !== draft.required) noteMissing(draft, properties)
}

/** Prepares for an object. Returns true if properties that are new in it were missing in an earlier one. */
function startObject(draft: Draft): true | undefined {
  if (draft.properties !== undefined || draft.values !== undefined) return true
  draft.properties = noProperties()
  draft.size = 0
  draft.required = 0
  return undefined
}

/** The node of a key's value: its property, or the single node for all values of a map. */
function propertyOf(draft: Draft, key: string, optional: true | undefined): Draft {
  const { properties } = draft
  if (properties === undefined) return valuesOf(draft)
  const known = properties[key]
  if (known !== undefined) return known
  if (draft.size === MAX_PROPERTIES || key.length > MAX_KEY_LENGTH) return valuesOf(draft)
  const node = blank()
  properties[key] = node
  node.optional = optional
  draft.size = (draft.size ?? 0) + 1
  if (!optional) draft.required = (draft.required ?? 0) + 1
  return node
}

function makeOptional(draft: Draft, node: Draft) {
  if (draft.properties === undefined || node.optional) return
  node.optional = true
  draft.required = (draft.required ?? 0) - 1
}

/** Marks missing properties as optional. Called only if there are any, because the walk is long. */
function noteMissing(draft: Draft, object: object) {
  for (const key in draft.properties) {
    if (!Object.hasOwn(object, key)) makeOptional(draft, draft.properties[key] as Draft)
  }
}

function itemsOf(draft: Draft): Draft {
  if (draft.items === undefined) draft.items = blank()
  return draft.items
}

/** The node for the values of an object that counts as a map from now on. */
function valuesOf(draft: Draft): Draft {
  if (draft.values !== undefined) return draft.values
  const values = blank()
  for (const key in draft.properties) absorb(values, draft.properties[key] as Draft)
  draft.values = values
  draft.properties = undefined
  draft.size = undefined
  draft.required = undefined
  return values
}
