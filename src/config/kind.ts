import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** A value as written in a TOML file; null if not set. */
export type Written = string | number | boolean | null | readonly Written[]

/** The value that was read, or the problem with it. */
export type Read<T> = { value: T } | { problem: string }

/** A kind of value: how it is written, read and bounded. */
export interface Kind<T> {
  /** Completes the sentence `must be …`. */
  readonly expected: string
  /** Suffix of the setting's name in the program; in the file, the value has the unit. */
  readonly unit: '' | 'Ms' | 'Bytes'
  /** From a value of a TOML file. */
  read(raw: unknown): Read<T>
  /** The TOML value for the text of a variable or option. */
  fromText(text: string): unknown
  write(value: T): Written
  /** Resolves a relative path. */
  resolve?(value: T, cwd: string): T
}

/** A kind that parses values with `parse` and checks them against a schema. */
export function kindOf<S extends TSchema>(parts: {
  schema: S
  expected: string
  unit?: 'Ms' | 'Bytes'
  parse?: (raw: unknown) => unknown
  fromText?: (text: string) => unknown
  write: (value: Static<S>) => Written
  resolve?: (value: Static<S>, cwd: string) => Static<S>
}): Kind<Static<S>> {
  const { schema, expected, unit = '', parse = asIs, fromText = asIs, write, resolve } = parts
  const read = (raw: unknown): Read<Static<S>> => {
    const value = parse(raw)
    return Value.Check(schema, value) ? { value } : { problem: `must be ${expected}` }
  }
  return { expected, unit, read, fromText, write, resolve }
}

/** A kind that may be unset, also written as an empty string. */
export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  const { expected, unit, fromText, resolve } = kind
  return {
    expected,
    unit,
    fromText,
    read: (raw) => (raw === '' ? { value: undefined } : kind.read(raw)),
    write: (value) => (value === undefined ? null : kind.write(value)),
    resolve: (value, cwd) => (value === undefined ? value : (resolve?.(value, cwd) ?? value)),
  }
}

/** A list; in variables and options, items are separated by commas. */
export function list<T>(item: Kind<T>, minItems: number, maxItems: number): Kind<readonly T[]> {
  const range = minItems === 0 ? `up to ${maxItems}` : `${minItems} to ${maxItems}`
  const expected = `a list of ${range} items, each ${item.expected}`
  const schema = Type.Array(Type.Unknown(), { minItems, maxItems })
  return {
    expected,
    unit: item.unit,
    read: (raw) =>
      Value.Check(schema, raw) ? readItems(item, raw) : { problem: `must be ${expected}` },
    fromText: (text) => itemsIn(text).map((part) => item.fromText(part)),
    write: (values) => values.map((value) => item.write(value)),
  }
}

function readItems<T>(item: Kind<T>, raws: readonly unknown[]): Read<readonly T[]> {
  const values: T[] = []
  for (const [index, raw] of raws.entries()) {
    const read = item.read(raw)
    if ('problem' in read) return { problem: `item ${index + 1}: ${read.problem}` }
    values.push(read.value)
  }
  return { value: Object.freeze(values) }
}

const itemsIn = (text: string) =>
  text.trim() === '' ? [] : text.split(',').map((part) => part.trim())

const asIs = <T>(value: T) => value
