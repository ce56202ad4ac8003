import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value as Shapes } from '@sinclair/typebox/value'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { isoTime } from '../clock.ts'
import { invalid } from '../errors.ts'
import type { Field, Row, Value } from './table.ts'

/** A value that its column cannot hold. `path` leads to the part of it that is wrong. */
export class Mismatch extends Error {
  override name = 'Mismatch'

  constructor(
    readonly problem: string,
    readonly path = '',
  ) {
    super(problem)
  }
}

/** How a column is written that holds nothing but what it says. */
export function fieldOf(column: SQLiteColumn): Field {
  if (column.dataType === 'boolean') return flag
  if (column.dataType === 'number') return column.name.endsWith('_at') ? time : whole
  if (IDS.has(column.name)) return id
  return column.enumValues ? word(column.enumValues) : text
}

/** Columns with what Gatehouse has given a name to. */
const IDS = new Set(['id', 'tenant_id', 'identity_id'])

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const asWritten = (value: Value) => value

const text: Field = { write: asWritten, read: readText }

/** No word: an id is known to all tenants, and one may have called a service of theirs so. */
const id: Field = {
  write: asWritten,
  read: (value) => {
    const known = readText(value)
    return UUID.test(known) ? known : mismatch('must be a UUID')
  },
}

const flag: Field = {
  write: asWritten,
  read: (value) => (typeof value === 'boolean' ? value : mismatch('must be true or false')),
}

const whole: Field = {
  write: asWritten,
  read: (value) =>
    Number.isSafeInteger(value) && Number(value) >= 0
      ? Number(value)
      : mismatch('must be a whole number, zero or more'),
}

/** More than anything is ever counted up to, with room to go on counting. */
export const MAX_COUNTED = 1_000_000_000

/** A number that goes up by one: where numbers end, it could not. */
export const counter: Field = {
  write: asWritten,
  read: (value, row, sealing) => {
    const count = whole.read(value, row, sealing)
    return Number(count) <= MAX_COUNTED ? count : mismatch(`must be at most ${MAX_COUNTED}`)
  },
}

const time: Field = { write: (ms) => isoTime(Number(ms)), read: readTime }

const word = (words: readonly string[]): Field => ({
  write: asWritten,
  read: (value) =>
    words.find((known) => known === value) ?? mismatch(`must be one of ${words.join(', ')}`),
})

/** SQLite would put another character in the place of half a surrogate pair. */
function readText(value: unknown): string {
  if (typeof value !== 'string') mismatch('must be a string')
  return value.isWellFormed() ? value : mismatch('must be Unicode text')
}

/** Later years have more digits than the columns and clients that show them. */
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** In the one spelling that an export has. */
export function readTime(value: unknown): number {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return ms >= 0 && ms <= LAST_MS && isoTime(ms) === value
    ? ms
    : mismatch('must be a time such as 2026-01-31T12:00:00.000Z, from 1970 to 9999')
}

/** A time within JSON that is kept as it is. */
export const Milliseconds = Type.Integer({ minimum: 0, maximum: LAST_MS })

/** JSON text, which stands in the file as what it says. `check` throws for what cannot be kept. */
export const json = <R = Row>(shape: TSchema, check?: (value: unknown) => void): Field<R> => ({
  write: (value) => JSON.parse(`${value}`),
  read: (value) => jsonText(shape, value, check),
})

interface Sealed<R> {
  purpose: string
  place: (row: R) => string
}

/** Text that is opened for the file and sealed again for its new home. */
export const sealedText = <R = Row>({ purpose, place }: Sealed<R>): Field<R> => ({
  write: (value, row, sealing) => sealing.open(purpose, place(row), `${value}`),
  read: (value, row, sealing) => sealing.seal(purpose, place(row), readText(value)),
})

/** The same of JSON. */
export const sealedJson = <R = Row>(
  { purpose, place }: Sealed<R>,
  shape: TSchema,
  check?: (value: unknown) => void,
): Field<R> => ({
  write: (value, row, sealing) => JSON.parse(sealing.open(purpose, place(row), `${value}`)),
  read: (value, row, sealing) => sealing.seal(purpose, place(row), jsonText(shape, value, check)),
})

function jsonText(shape: TSchema, value: unknown, check?: (value: unknown) => void): string {
  requireShape(shape, value)
  check?.(value)
  return JSON.stringify(value)
}

/** Throws `Mismatch`, saying where in the value, unless it has the shape. */
export function requireShape<T extends TSchema>(
  shape: T,
  value: unknown,
): asserts value is Static<T> {
  if (Shapes.Check(shape, value)) return
  const flaw = Shapes.Errors(shape, value).First()
  const { path = '', message = 'value is not valid' } = flaw ?? {}
  throw new Mismatch(
    `is not valid: ${message.toLowerCase()}`,
    path.slice(1).replaceAll('/', '.').slice(0, 100),
  )
}

export function mismatch(message: string): never {
  throw new Mismatch(message)
}

/** Whether it may be called here is asked at each call. Throws `invalid`, naming the field. */
export function requireWebUrl(url: string, field: string) {
  const { protocol } = URL.parse(url) ?? {}
  if (protocol !== 'http:' && protocol !== 'https:')
    throw invalid('must be an http or https URL', { field, rule: 'format' })
}
