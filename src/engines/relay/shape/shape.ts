import type { Format } from './formats.ts'

/** What was seen at a node. Plain data: `JSON.stringify` writes it and `asShape` reads it. */
export interface Shape {
  /** A set of bits; see `types.ts`. */
  readonly types: number
  /** The format shared by all strings at this node. */
  readonly format?: Format
  /** For a property: at least one object did not have it. */
  readonly optional?: true
  /** The contents of objects and arrays are unknown, because they were too deep or too large. */
  readonly open?: true
  /** The number of properties; `required` is the number of those that every object had. */
  readonly size?: number
  readonly required?: number
  /** In order of appearance. Has no prototype, because a key can be any text. */
  readonly properties?: Readonly<Record<string, Shape>>
  /** Used instead of properties once an object counts as a map: any of its values. */
  readonly values?: Shape
  /** Any item of an array. Absent while all arrays were empty. */
  readonly items?: Shape
}

/** A shape under construction, owned by the code that builds it. */
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

/** All fields exist from the start, so that the JavaScript engine uses one object layout. */
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
