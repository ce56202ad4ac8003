import { type TSchema, Type } from '@sinclair/typebox'
import { Value, type ValueError } from '@sinclair/typebox/value'
import { t } from 'elysia'
import { flawIn } from '../http/validation.ts'
import { AppError, type FieldError } from '../platform/errors.ts'
import { MAX_ERRORS } from './limits.ts'
import type { Item, Section } from './section.ts'
import { isObject } from './values.ts'

/** The objects of all sections together. */
const MAX_ITEMS = 5000

/** The schema of a manifest: every section is optional, and nothing else is known. */
export function schemaOf(sections: readonly Section[]) {
  const tables = new Map<string, Record<string, TSchema>>()
  const top: Record<string, TSchema> = {}
  for (const section of sections) {
    const [first = '', rest] = section.name.split('.')
    const schema = Type.Optional(
      section.type === 'setting' ? section.schema : listOf(section.schema),
    )
    if (rest === undefined) top[first] = schema
    else tables.set(first, { ...tables.get(first), [rest]: schema })
  }
  for (const [name, fields] of tables)
    top[name] = Type.Optional(t.Object(fields, { additionalProperties: false }))
  return t.Object(top, { additionalProperties: false, examples: [EXAMPLE] })
}

const listOf = (schema: TSchema) => t.Array(schema, { maxItems: MAX_ITEMS })

const EXAMPLE = {
  jobs: [{ name: 'Nightly report', schedule: '0 3 * * *', url: 'https://example.com/report' }],
  monitors: [{ name: 'Backup', period_seconds: 86_400 }],
}

/** Throws `invalid` with everything that doesn't fit the schema. */
export function check(schema: TSchema, manifest: unknown): asserts manifest is Item {
  const flaws = new Map<string, FieldError>()
  for (const error of Value.Errors(schema, manifest)) {
    if (!flaws.has(error.path)) flaws.set(error.path, flawIn(error as ValueError))
    if (flaws.size === MAX_ERRORS) break
  }
  const [first, ...rest] = flaws.values()
  if (first) throw new AppError('invalid', [first, ...rest])
}

/** What a manifest has for a section; undefined if it leaves the section alone. */
export function valueFor({ name }: Section, manifest: Item): unknown {
  const [first = '', rest] = name.split('.')
  const value = manifest[first]
  if (rest === undefined) return value
  return isObject(value) ? value[rest] : undefined
}
