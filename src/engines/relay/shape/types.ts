/** The types of a node as bits of a set. `null` is last, in reading order. */
export const BOOLEAN = 1
export const INTEGER = 2
export const NUMBER = 4
export const STRING = 8
export const OBJECT = 16
export const ARRAY = 32
export const NULL = 64

export const EVERY_TYPE = 127

/** JSON Schema names in the order of the bits. */
const NAMES = ['boolean', 'integer', 'number', 'string', 'object', 'array', 'null'] as const

/** The union of two sets. A number may be whole by chance, so "number" includes "integer". */
export function unite(some: number, others: number): number {
  const all = some | others
  return all & NUMBER ? all & ~INTEGER : all
}

/** The types in `next` that are not in `known`. A change from integer to number doesn't count. */
export function newTypes(known: number, next: number): number {
  const fresh = next & ~known
  return known & INTEGER ? fresh & ~NUMBER : fresh
}

export const typeNames = (types: number): string[] =>
  NAMES.filter((_, index) => (types >>> index) & 1)

export const typeWords = (types: number) => typeNames(types).join(' or ')
