import { STATUS_CODES } from 'node:http'
import { toOpenAPISchema } from '@elysiajs/openapi'
import type { AnyElysia } from 'elysia'
import { VERSION } from '../platform/version.ts'
import type { ApiDocument, ApiOperation, ApiParameter, JsonSchema } from './api-document.ts'
import { addErrors, ERROR_COMPONENTS } from './openapi-errors.ts'
import { addExamples } from './openapi-examples.ts'

const TAGS = [
  {
    name: 'gate',
    'x-displayName': 'Users',
    description:
      'Users, sign-in, sessions, access tokens, authorization, and webhooks for their events.',
  },
  {
    name: 'clockwork',
    'x-displayName': 'Jobs',
    description: 'Scheduled HTTP requests: recurring (cron) and one-time.',
  },
  {
    name: 'passepartout',
    'x-displayName': 'Messenger login',
    description: 'Sign-in with a messenger bot.',
  },
  {
    name: 'relay',
    'x-displayName': 'Webhooks',
    description: 'Webhooks: events that you send once, delivered to every subscribed endpoint.',
  },
  {
    name: 'notifications',
    'x-displayName': 'Notifications',
    description: 'Alerts about failing jobs, webhooks and bots, and the channels that tell you.',
  },
  {
    name: 'manifest',
    'x-displayName': 'Configuration as code',
    description:
      'The jobs, monitors, endpoints, channels, sign-in settings, policies and keys of a tenant as one object.',
  },
  {
    name: 'installation',
    'x-displayName': 'Installation',
    description: 'Tenants, their API keys and members, and the operators of the console.',
  },
  {
    name: 'operations',
    'x-displayName': 'Operations',
    description: 'For load balancers, orchestrators and Prometheus.',
  },
]

/** OpenAPI 3.1. `sessionCookie` is the name of the console's cookie. */
export function describeApi(app: AnyElysia, baseUrl: string, sessionCookie: string): ApiDocument {
  const { paths } = toOpenAPISchema(app, {
    paths: ['/', '/reference', '/reference/:chapter'],
    staticFile: false,
  })
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse',
      version: VERSION,
      description:
        'Users and sign-in, scheduled jobs, messenger login and webhooks in one executable.',
    },
    servers: [{ url: baseUrl }],
    tags: TAGS,
    paths: withBodies(app, paths as ApiDocument['paths']),
    components: {
      ...ERROR_COMPONENTS,
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key with the scope.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookie,
          description: 'Console session of an operator who acts in a tenant.',
        },
      },
    },
  }
}

/** Descriptions of refusals for callers with a session instead of a key. */
const OF_SESSIONS: Readonly<Record<string, string>> = {
  401: 'Missing or invalid session.',
  403: 'The session acts for the installation, the operator lacks the right, or the request comes from another site.',
  404: 'No such object in the tenant of the session.',
  429: 'Too many requests with this session, or the monthly allowance is used up. See `Retry-After`.',
}

/** Replaces descriptions: routes that also accept keys are declared once, in terms of keys. */
function sayOfSessions({ responses = {} }: ApiOperation) {
  for (const [status, { content: documented = {} }] of Object.entries(responses)) {
    const description = OF_SESSIONS[status]
    if (description === undefined) continue
    const content = Object.entries(documented).map(([type, { schema }]) => [
      type,
      { schema: { ...schema, description } },
    ])
    responses[status] = { description, content: Object.fromEntries(content) }
  }
}

/** Lists have an entity tag, which a client that polls sends back: see entity-tag.ts. */
function sayOfLists(operation: ApiOperation) {
  const { responses = {}, parameters = [] } = operation
  const list = responses['200']
  const schema = list?.content?.['application/json']?.schema
  if (!list || (schema?.type !== 'array' && schema?.properties?.data?.type !== 'array')) return
  const tag: JsonSchema = { type: 'string' }
  list.headers = { ETag: { description: 'Changes with the list.', schema: tag } }
  const known = { ...tag, description: '`ETag` of the list that you have.' }
  operation.parameters = [...parameters, { name: 'If-None-Match', in: 'header', schema: known }]
  responses['304'] = { description: 'The list has the `ETag` of `If-None-Match`. No body.' }
}

/** Adds the parameters that a route states, which the generator drops if it finds others. */
function addStated(operation: ApiOperation, stated: readonly ApiParameter[] = []) {
  const names = stated.map(({ name }) => name)
  const others = operation.parameters?.filter(({ name }) => !names.includes(name)) ?? []
  if (stated.length > 0) operation.parameters = [...others, ...stated]
}

/** Describes the responses that have no description of their own. */
function describeResponses({ responses = {} }: ApiOperation) {
  for (const [status, response] of Object.entries(responses)) {
    if (!response.description?.startsWith('Response for status')) continue
    const { anyOf = [] } = response.content?.['application/json']?.schema ?? {}
    const described = anyOf.find(({ description }) => description)
    response.description = described?.description ?? STATUS_CODES[status] ?? ''
  }
}

/** Moves the defaults of an object to its fields: see `lenient`. */
function withDefaults({ defaults = {}, properties = {}, ...schema }: JsonSchema): JsonSchema {
  const fields = Object.entries(properties).map(([name, field]) =>
    name in defaults ? [name, { ...field, default: defaults[name] }] : [name, field],
  )
  return fields.length === 0 ? schema : { ...schema, properties: Object.fromEntries(fields) }
}

/** Adds JSON request bodies, unknown to the generator because Gatehouse reads them itself. */
function withBodies(app: AnyElysia, paths: ApiDocument['paths']): ApiDocument['paths'] {
  for (const { method, path, hooks } of app.routes) {
    const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
    if (operation?.responses?.['204']) delete operation.responses['204'].content
    if (operation?.security?.some((scheme) => 'session' in scheme)) sayOfSessions(operation)
    if (!operation) continue
    describeResponses(operation)
    addStated(operation, hooks.detail?.parameters as ApiParameter[] | undefined)
    if (method === 'GET') sayOfLists(operation)
    if (!operation.requestBody) continue
    const schema = hooks.body as JsonSchema
    operation.requestBody.content = { 'application/json': { schema: withDefaults(schema) } }
    operation.requestBody.required = !schema.nullable
  }
  addExamples(paths)
  addErrors(paths)
  return paths
}
