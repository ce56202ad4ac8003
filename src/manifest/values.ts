import type { TSchema } from '@sinclair/typebox'
import { MASK } from '../platform/secret-headers.ts'

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Replaces each value of an object, and any other value that is set, by a mask. */
export function mask(value: unknown): unknown {
  if (isObject(value)) return Object.fromEntries(Object.keys(value).map((name) => [name, MASK]))
  return value === null || value === undefined ? value : MASK
}

/** The fields of `next` that differ from those of `before`. */
export const differing = (
  before: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(next).filter(
      ([name, value]) => value !== undefined && !Bun.deepEquals(value, before[name]),
    ),
  )

/** The fields that a schema has, in its order. */
export const inOrder = (
  { schema }: { schema: TSchema },
  item: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(schema.properties).flatMap((name) => (name in item ? [[name, item[name]]] : [])),
  )
