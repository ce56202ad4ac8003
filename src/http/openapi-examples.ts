import type { ApiDocument, JsonSchema } from './api-document.ts'
import { EXAMPLE_ID, EXAMPLE_VALUES } from './example-values.ts'

/** Nullable fields that tell of trouble or an exception, and are null when all is well. */
const USUALLY_NULL =
  /^(error(_message)?|open_until|failing_since|next_attempt_at|next_cursor|reason)$/
/** Fields that a new object has no value for yet. */
const NULL_AT_FIRST = /^(ended_at|completed_at|last_run_at|updated_at|verified_at)$/
/** Numbers of what goes wrong. */
const USUALLY_ZERO =
  /^(failures_in_a_row|failed|exhausted|cancelled|breaking_changes|outage|overlap)$/
const USUALLY_FALSE = /^(has_more|disabled|refresh|breaking|is_starter_set)$/
const FALSE_AT_FIRST = /^verified$/
/** Words for a normal outcome. */
const OUTCOMES = new Set<unknown>(['succeeded', 'success', 'completed'])
/** Times before and after the one that schemas have as example. */
const TIMES: readonly [name: RegExp, time: string][] = [
  [/^(created|issued|authenticated|verified|first_seen)_at$/, '2026-01-30T09:00:00.000Z'],
  [/^(next_run|run|expires|previous_expires)_at$|^next_runs$/, '2026-02-01T09:00:00.000Z'],
]

/** Adds an example to each parameter, request body and response of the document. */
export function addExamples(paths: ApiDocument['paths']): void {
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const parameter of operation.parameters ?? [])
      if (parameter.in !== 'header')
        parameter.example = exampleOf(parameter.name, parameter.schema ?? {}, {})
    const body = operation.requestBody?.content?.['application/json']
    if (body?.schema) body.example = exampleOf('body', body.schema, { isShort: true })
    for (const [status, { content }] of Object.entries(operation.responses ?? {})) {
      const answer = content?.['application/json']
      if (!answer?.schema) continue
      const kind = { isNew: status.startsWith('20') && status !== '200', isError: status >= '400' }
      answer.example = echoing(body?.example, exampleOf('response', answer.schema, kind))
    }
  }
}

/** A response with the values of the request, as far as it has fields of the same name and type. */
function echoing(request: unknown, response: unknown): unknown {
  if (!isObject(request) || !isObject(response)) return response
  const echo = (name: string, value: unknown): unknown => {
    const sent = request[name]
    if (isObject(value)) return { ...value, ...(isObject(sent) && sent) }
    return typeOf(sent) === typeOf(value) && !isTime(value) && !isListOfObjects(value)
      ? sent
      : value
  }
  return Object.fromEntries(
    Object.entries(response).map(([name, value]) => [name, echo(name, value)]),
  )
}

/** Responses have times with milliseconds. */
const isTime = (value: unknown): boolean => typeof value === 'string' && /^\d{4}-.*Z$/.test(value)

/** They have more fields in the response. */
const isListOfObjects = (value: unknown): boolean => Array.isArray(value) && isObject(value[0])

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Kind {
  /** Required properties only. */
  isShort?: boolean
  /** Of something that was just created. */
  isNew?: boolean
  /** Of a rejected request, which is the last of several examples. */
  isError?: boolean
}

/** A valid value: the schema's own example, or one for its name and type. */
function exampleOf(name: string, schema: JsonSchema, kind: Kind): unknown {
  const { examples, anyOf, const: only, enum: words, nullable, properties } = schema
  if (nullable && (USUALLY_NULL.test(name) || (kind.isNew && NULL_AT_FIRST.test(name)))) return null
  const stated = examples?.at(kind.isError ? -1 : 0) ?? only
  if (stated !== undefined) return timeFor(name, stated)
  if (words) return words.includes(null) ? null : wordOf(words, name, kind)
  if (anyOf?.[0]) return exampleOf(name, anyOf[0], kind)
  return properties ? objectOf(schema, kind) : exampleValue(name, schema, kind)
}

/** An example of a time in responses, moved to where its name says. */
const timeFor = (name: string, stated: unknown): unknown =>
  stated === '2026-01-31T12:00:00.000Z'
    ? (TIMES.find(([names]) => names.test(name))?.[1] ?? stated)
    : stated

function wordOf(words: unknown[], name: string, { isNew }: Kind): unknown {
  if (name === 'method') return words.includes('POST') ? 'POST' : words[0]
  const isOutcome = /^(status|verdict)$/.test(name) && !isNew
  return words.find((word) => isOutcome && OUTCOMES.has(word)) ?? words[0]
}

const objectOf = ({ properties = {}, required = [] }: JsonSchema, kind: Kind) =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => !kind.isShort || required.includes(name))
      .map(([name, schema]) => [name, exampleOf(name, schema, kind)]),
  )

function exampleValue(name: string, schema: JsonSchema, kind: Kind): unknown {
  const types = [schema.type].flat()
  const known = EXAMPLE_VALUES[name]?.find((value) => types.includes(typeOf(value)))
  if (known !== undefined) return known
  if (types.includes('array')) return [exampleOf(name, schema.items ?? {}, kind)]
  if (types.includes('object')) return {}
  if (types.includes('boolean'))
    return !USUALLY_FALSE.test(name) && !(kind.isNew && FALSE_AT_FIRST.test(name))
  if (types.includes('null')) return null
  if (types.includes('string')) return name.endsWith('_id') ? EXAMPLE_ID : name
  return USUALLY_ZERO.test(name) ? 0 : Math.max(schema.minimum ?? 0, 1)
}

function typeOf(value: unknown): string {
  if (Number.isInteger(value)) return 'integer'
  return Array.isArray(value) ? 'array' : typeof value
}
