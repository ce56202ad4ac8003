import { hasFormat } from './formats.ts'
import type { Shape } from './shape.ts'
import { ARRAY, BOOLEAN, INTEGER, NULL, NUMBER, OBJECT, STRING } from './types.ts'

/** Whether observing the value changes nothing. Runs for each message, so it allocates nothing. */
export function fits(shape: Shape, value: unknown): boolean {
  const { types } = shape
  if (typeof value === 'string') {
    if (!(types & STRING)) return false
    return shape.format === undefined || hasFormat(value, shape.format)
  }
  if (typeof value === 'number') {
    return (types & NUMBER) !== 0 || ((types & INTEGER) !== 0 && Number.isInteger(value))
  }
  if (typeof value === 'boolean') return (types & BOOLEAN) !== 0
  if (typeof value !== 'object' || value === null) return (types & NULL) !== 0
  if (Array.isArray(value)) return (types & ARRAY) !== 0 && fitsArray(shape, value)
  return (types & OBJECT) !== 0 && fitsObject(shape, value as Record<string, unknown>)
}

function fitsArray({ open, items }: Shape, array: unknown[]): boolean {
  if (open) return true
  if (items === undefined) return array.length === 0
  for (let index = 0; index < array.length; index++) {
    if (!fits(items, array[index])) return false
  }
  return true
}

/** Counts required properties, which reveals a missing one without searching for it. */
function fitsObject(shape: Shape, object: Record<string, unknown>): boolean {
  const { open, properties, required } = shape
  if (open) return true
  if (properties === undefined) return fitsMap(shape, object)
  let met = 0
  for (const key in object) {
    const node = properties[key]
    if (node === undefined || !fits(node, object[key])) return false
    if (!node.optional) met++
  }
  return met === required
}

function fitsMap({ values }: Shape, object: Record<string, unknown>): boolean {
  if (values === undefined) return false
  for (const key in object) {
    if (!fits(values, object[key])) return false
  }
  return true
}
