import { getTableColumns } from 'drizzle-orm'
import { AppError, conflict, invalid, renamed } from '../errors.ts'
import { SealError, type Sealing } from '../sealing/index.ts'
import { fieldOf, Mismatch } from './fields.ts'
import { asItIs, isLeftOut, type PortableTable, type Row } from './table.ts'

/** A row as a JSON object in the file: its kind, and its columns under their database names. */
export type Line = Record<string, unknown>

/** Converts rows of a table to lines of the file and back. */
export function createCodec(portable: PortableTable, sealing: Sealing) {
  const { kind, table, columns } = portable
  const known = getTableColumns(table)
  const fields = Object.entries(columns).flatMap(([key, how]) => {
    const column = known[key]
    if (!column || isLeftOut(how)) return []
    const field = how === asItIs ? fieldOf(column) : how
    return [{ key, name: column.name, isRequired: column.notNull || column.primary, field }]
  })
  const names = new Set(['kind', ...fields.map(({ name }) => name)])
  const leftOut = Object.entries(columns).flatMap(([key, how]) =>
    isLeftOut(how) ? [[key, how] as const] : [],
  )

  /**
   * Converts a row to a line. Throws `conflict` if a secret was sealed with another key or for
   * another place.
   */
  function write(row: Row): Line {
    try {
      const members = fields.map(({ key, name, field }) => {
        const value = row[key] ?? null
        return [name, value === null ? null : field.write(value, row, sealing)] as const
      })
      return { kind, ...Object.fromEntries(members) }
    } catch (error) {
      throw error instanceof SealError
        ? conflict(error.message, { field: kind, rule: 'damaged' })
        : error
    }
  }

  /** Converts a line to a row. Throws `invalid`, with kind and field, if a value doesn't fit. */
  function read(line: Line, now: number): Row {
    const unknown = Object.keys(line).find((name) => !names.has(name))
    if (unknown !== undefined)
      throw invalid('is not a known field', {
        field: `${kind}.${unknown.slice(0, 100)}`,
        rule: 'unknown',
      })
    const row: Row = {}
    for (const { key, name, isRequired, field } of fields) {
      const value = Object.hasOwn(line, name) ? line[name] : absent(name)
      row[key] =
        value === null && !isRequired ? null : named(name, () => field.read(value, row, sealing))
    }
    named(undefined, () => portable.check?.(row))
    for (const [key, { instead }] of leftOut) row[key] = instead?.(row, now) ?? null
    return row
  }

  const absent = (name: string): never => {
    throw invalid('is missing', { field: `${kind}.${name}`, rule: 'required' })
  }

  /** Adds kind and field to errors. Shared checks already name the field relative to the row. */
  function named<T>(name: string | undefined, work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (error instanceof AppError) throw renamed(error, (field) => pathOf(kind, field))
      if (error instanceof Mismatch)
        throw invalid(error.problem, { field: pathOf(kind, name, error.path), rule: 'format' })
      if (error instanceof SealError)
        throw invalid(error.message, { field: pathOf(kind, name), rule: 'damaged' })
      // The JSON parser accepts deeper nesting than some checks can walk through.
      if (error instanceof RangeError)
        throw invalid('is nested too deeply', { field: pathOf(kind, name), rule: 'too_deep' })
      throw error
    }
  }

  return { portable, write, read }
}

const pathOf = (...steps: (string | undefined)[]): string => steps.filter(Boolean).join('.')
