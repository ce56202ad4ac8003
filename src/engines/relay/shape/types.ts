/** The types a place of a payload can have, as bits of a set. `null` is last, as it is read. */
export const BOOLEAN = 1
export const INTEGER = 2
export const NUMBER = 4
export const STRING = 8
export const OBJECT = 16
export const ARRAY = 32
export const NULL = 64

export const EVERY_TYPE = 127

/** As JSON Schema calls them, in the order of their bits. */
const NAMES = ['boolean', 'integer', 'number', 'string', 'object', 'array', 'null'] as const

/** One set out of two. A number may be whole by chance, so "number" takes "integer" in. */
export function unite(some: number, others: number): number {
  const all = some | others
  return all & NUMBER ? all & ~INTEGER : all
}

/** What is in `next` and not in `known`. That integers become numbers is no news. */
export function newTypes(known: number, next: number): number {
  const fresh = next & ~known
  return known & INTEGER ? fresh & ~NUMBER : fresh
}

export const typeNames = (types: number): string[] =>
  NAMES.filter((_, index) => (types >>> index) & 1)

export const typeWords = (types: number) => typeNames(types).join(' or ')
