import { type AppError, forbidden, invalid, notFound } from '../platform/errors.ts'
import type { ApiDocument, ApiOperation, JsonSchema } from './api-document.ts'
import { errorBody, failureOf, statusOf } from './errors.ts'
import { GENERAL_ERRORS, PARTICULAR_ERRORS } from './example-errors.ts'
import { unknownParameter } from './query-names.ts'
import { problemWith } from './validation.ts'

const EXAMPLE_REQUEST_ID = 'req_AaIhO2HVceC8nkLO6Gd19w'

const text = (description: string): JsonSchema => ({ type: 'string', description })

const CODED = {
  type: 'object',
  required: ['code', 'message', 'request_id'],
  properties: {
    code: text('For programs.'),
    message: text('For people. Names the field, if any, and the rule.'),
    request_id: text('Same as `X-Request-Id`.'),
  },
}

/** What error responses refer to, so that a generated client has one type for each. */
export const ERROR_COMPONENTS: ApiDocument['components'] = {
  schemas: {
    Error: {
      type: 'object',
      required: ['error'],
      properties: { error: text('For people. Names the field, if any, and the rule.') },
    },
    CodedError: { type: 'object', required: ['error'], properties: { error: CODED } },
  },
  headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } },
}

/**
 * Adds to each error response what the operation answers in such a case: `tests/contract` provokes
 * these errors.
 */
export function addErrors(paths: ApiDocument['paths']): void {
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      const errors = errorsOf(`${method.toUpperCase()} ${path}`, operation)
      for (const [status, response] of Object.entries(operation.responses ?? {})) {
        const answer = response.content?.['application/json']
        if (!answer?.schema || !hasError(answer.schema)) continue
        if (status === '429' || status === '503')
          response.headers = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
        const error = errors.find((each) => `${statusOf(each)}` === status)
        if (error) answer.example = errorBody(path, failureOf(error), EXAMPLE_REQUEST_ID)
        answer.schema = withReferences(answer.schema)
      }
    }
}

const hasError = ({ properties, anyOf = [] }: JsonSchema): boolean =>
  properties?.error !== undefined || anyOf.some(hasError)

/** The schema of an error, or of several of which some are errors. */
function withReferences(schema: JsonSchema): JsonSchema {
  const { properties = {}, anyOf } = schema
  if (anyOf) return { anyOf: anyOf.map(withReferences) }
  if (Object.keys(properties).join() !== 'error') return schema
  const name = properties.error?.type === 'string' ? 'Error' : 'CodedError'
  return { $ref: `#/components/schemas/${name}` }
}

/** Errors of an operation; of each status, the first is the example. */
const errorsOf = (name: string, operation: ApiOperation): AppError[] => [
  ...PARTICULAR_ERRORS.filter(([operations]) => operations.test(name)).map(([, error]) => error),
  wrongRequest(operation),
  missingScope(operation),
  unknownObject(name),
  ...GENERAL_ERRORS,
]

/** A required field is missing, or else a value is of the wrong type, or else a parameter is unknown. */
function wrongRequest(operation: ApiOperation): AppError {
  const fields = [...bodyFields(operation), ...queryFields(operation)]
  const field = fields.find(({ isRequired }) => isRequired) ?? fields.find(({ isTyped }) => isTyped)
  if (!field) return unknownParameter('verbose', namesOf(queryFields(operation)))
  const { name, schema, isRequired, code } = field
  return invalid(problemWith(schema, isRequired), {
    field: name,
    rule: isRequired ? 'required' : 'type',
    code,
  })
}

const namesOf = (fields: readonly Field[]): string[] => fields.map(({ name }) => name)

interface Field {
  name: string
  schema: JsonSchema
  isRequired: boolean
  /** Whether a value can be of the wrong type. */
  isTyped: boolean
  code?: string
}

function bodyFields({ requestBody }: ApiOperation): Field[] {
  const schema = requestBody?.content?.['application/json']?.schema ?? {}
  const { properties = {}, required = [] } = schema.anyOf?.find((one) => one.properties) ?? schema
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.includes(name),
    isTyped: (schema.type ?? schema.anyOf) !== undefined,
  }))
}

/** A query has text only. */
const queryFields = ({ parameters = [] }: ApiOperation): Field[] =>
  parameters
    .filter((one) => one.in === 'query')
    .map(({ name, schema = {}, required = false }) => ({
      name,
      schema,
      isRequired: required,
      isTyped: schema.enum !== undefined || schema.type === 'integer',
      code: 'invalid_request',
    }))

function missingScope({ security = [] }: ApiOperation): AppError {
  const scopes = security.flatMap(({ apiKey = [] }) => apiKey)
  return forbidden(`the key lacks the scope ${scopes.join(' or ')}`)
}

/** From `GET /v1/gate/identities/{identity_id}`: "identity not found". */
const unknownObject = (name: string): AppError =>
  notFound(`${/\{(\w+?)(?:_id)?\}/.exec(name)?.[1]} not found`)
