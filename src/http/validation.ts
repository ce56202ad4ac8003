import { type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import type { ValidationError } from 'elysia'
import { type AppError, invalid, type Rule } from '../platform/errors.ts'
import type { JsonSchema } from './api-document.ts'

/** Quotes the schema's `expected`, or its type and bounds. The code tells bodies from the rest. */
export function asInvalid(error: ValidationError): AppError {
  const code = error.type === 'body' ? undefined : 'invalid_request'
  const first = error.valueError as unknown as ValueError | undefined
  if (!first) return invalid('is not valid', { field: error.type, rule: 'format', code })
  const { problem, field, rule } = flawIn(first)
  return invalid(problem, { field: field || error.type, rule, code })
}

/** The same for a part of a body that has a schema of its own. */
export function asFlaw(error: ValueError, within: string): AppError {
  const { problem, field, rule } = flawIn(error)
  return invalid(problem, { field: [within, field].filter(Boolean).join('.'), rule })
}

/** One of the errors of a value, for a list of them. */
export function flawIn(error: ValueError) {
  const first = innermost(error) ?? error
  const isMissing = first.value === undefined && first.path !== ''
  const rule = isMissing ? 'required' : ruleIn(first)
  const problem = rule === 'unknown' ? UNKNOWN : problemWith(first.schema, isMissing)
  return { problem, field: fieldName(first.path), rule }
}

const UNKNOWN = 'is not known here'

/** What is wrong with a value that is missing, or doesn't fit its schema. */
export const problemWith = (schema: JsonSchema, isMissing = false): string =>
  `${isMissing ? 'is required and ' : ''}must be ${expectation(schema)}`

/** The actual error of a value that may also be null, instead of "expected null". */
function innermost(error: ValueError | undefined): ValueError | undefined {
  const inner = error?.errors
    .flatMap((variant) => variant.First() ?? [])
    .find(({ path }) => path !== error.path)
  return inner ? innermost(inner) : error
}

const ruleIn = ({ type, schema }: ValueError): Rule =>
  RULES[type] ?? (isChoice(schema) ? 'choice' : 'type')

const RULES: Partial<Record<ValueErrorType, Rule>> = {
  [ValueErrorType.StringMaxLength]: 'too_long',
  [ValueErrorType.StringMinLength]: 'too_short',
  [ValueErrorType.StringPattern]: 'format',
  [ValueErrorType.StringFormat]: 'format',
  [ValueErrorType.ArrayMaxItems]: 'too_many',
  [ValueErrorType.ArrayMinItems]: 'required',
  [ValueErrorType.NumberMinimum]: 'range',
  [ValueErrorType.NumberMaximum]: 'range',
  [ValueErrorType.IntegerMinimum]: 'range',
  [ValueErrorType.IntegerMaximum]: 'range',
  [ValueErrorType.ObjectAdditionalProperties]: 'unknown',
}

/** Converts `/headers/X-A` to `headers.X-A`; ~0 and ~1 are escapes of RFC 6901. */
const fieldName = (path: string): string =>
  path.slice(1).split('/').map(unescapePointer).join('.').slice(0, 200)

const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** What a value has to be: the `expected` of its schema, or its type and bounds. */
export function expectation(schema: JsonSchema): string {
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

const areLiterals = (schemas: JsonSchema[]): boolean =>
  schemas.every(({ const: literal }) => literal !== undefined)

const isChoice = ({ anyOf, enum: words, const: literal }: JsonSchema): boolean =>
  (anyOf !== undefined && areLiterals(anyOf)) || words !== undefined || literal !== undefined

const choices = (schemas: JsonSchema[]): string =>
  areLiterals(schemas)
    ? `one of ${schemas.map(({ const: literal }) => literal).join(', ')}`
    : schemas.map(expectation).join(' or ')

function bounds(least?: number, most?: number, unit = ''): string {
  if (least !== undefined && most !== undefined) return ` of ${least} to ${most}${unit}`
  if (least !== undefined) return ` of at least ${least}${unit}`
  if (most !== undefined) return ` of at most ${most}${unit}`
  return ''
}
