import type { TSchema } from '@sinclair/typebox'
import type { ValueError } from '@sinclair/typebox/value'
import type { ValidationError } from 'elysia'
import { type AppError, invalid } from '../platform/errors.ts'

/**
 * A failed schema check as a sentence that names the field and the rule. A schema may say
 * in its `expected` option what it wants; otherwise its type and bounds do. Where it is not
 * the body that fails, as with a query, the code says so.
 */
export function asInvalid(error: ValidationError): AppError {
  const first = innermost(error.valueError as unknown as ValueError | undefined)
  const code = error.type === 'body' ? undefined : 'invalid_request'
  return invalid(first ? sentence(first, error.type) : `${error.type}: not valid`, code)
}

/** Of a value that may also be null: what is wrong with it, and not that it is not null. */
function innermost(error: ValueError | undefined): ValueError | undefined {
  const inner = error?.errors
    .flatMap((variant) => variant.First() ?? [])
    .find(({ path }) => path !== error.path)
  return inner ? innermost(inner) : error
}

function sentence({ path, value, schema }: ValueError, part: string): string {
  const field = fieldName(path) || part
  const expected = expectation(schema)
  return value === undefined && path !== ''
    ? `${field}: required, ${expected}`
    : `${field}: expected ${expected}`
}

/** `/headers/X-A` is `headers.X-A` to people; ~0 and ~1 are escapes of RFC 6901. */
const fieldName = (path: string): string =>
  path.slice(1).split('/').map(unescapePointer).join('.').slice(0, 200)

const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

function expectation(schema: TSchema): string {
  if (typeof schema.expected === 'string') return schema.expected
  if (schema.anyOf) return choices(schema.anyOf)
  if (schema.enum) return `one of ${schema.enum.join(', ')}`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  switch (schema.type) {
    case 'string':
      return `a string${bounds(schema.minLength, schema.maxLength, ' characters')}`
    case 'integer':
      return `a whole number${bounds(schema.minimum, schema.maximum)}`
    case 'number':
      return `a number${bounds(schema.minimum, schema.maximum)}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return `a list${bounds(schema.minItems, schema.maxItems, ' items')}`
    case 'null':
      return 'null'
    default:
      return 'a JSON object'
  }
}

const choices = (schemas: TSchema[]): string =>
  schemas.every(({ const: literal }) => literal !== undefined)
    ? `one of ${schemas.map(({ const: literal }) => literal).join(', ')}`
    : schemas.map(expectation).join(' or ')

function bounds(least?: number, most?: number, unit = ''): string {
  if (least !== undefined && most !== undefined) return ` of ${least} to ${most}${unit}`
  if (least !== undefined) return ` of at least ${least}${unit}`
  if (most !== undefined) return ` of at most ${most}${unit}`
  return ''
}
