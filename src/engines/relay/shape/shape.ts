import type { Format } from './formats.ts'

/**
 * What has been seen at one place of the payloads of an event type. It is plain data and
 * written with `JSON.stringify`; `asShape` reads it back.
 */
export interface Shape {
  /** A set of bits, see `types.ts`. */
  readonly types: number
  /** The format of every string seen here. */
  readonly format?: Format
  /** As a property: there was an object without it. */
  readonly optional?: true
  /** Too deep or too much to keep: nothing is known of what objects and arrays hold here. */
  readonly open?: true
  /** How many properties there are, and how many of them no object was without. */
  readonly size?: number
  readonly required?: number
  /** Without a prototype, as any text can be a key. In order of appearance. */
  readonly properties?: Readonly<Record<string, Shape>>
  /** Instead of properties, once an object has turned out to be a map: any of its values. */
  readonly values?: Shape
  /** Any item of an array. None as long as all arrays were empty. */
  readonly items?: Shape
}

/** A shape while it is put together, owned by whoever does that. */
export interface Draft {
  types: number
  format?: Format
  optional?: true
  open?: true
  size?: number
  required?: number
  properties?: Record<string, Draft>
  values?: Draft
  items?: Draft
}

/** Nothing seen. All fields are there from the start, so that the engine knows one layout. */
export const blank = (): Draft => ({
  types: 0,
  format: undefined,
  optional: undefined,
  open: undefined,
  size: undefined,
  required: undefined,
  properties: undefined,
  values: undefined,
  items: undefined,
})

export const noProperties = (): Record<string, Draft> => Object.create(null)
