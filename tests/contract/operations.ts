import { KEY_ENGINES, type KeyEngine } from '../../src/platform/engines.ts'

// biome-ignore lint/suspicious/noExplicitAny: the document and bodies of every shape
export type Json = any

/** One operation that takes an API key in the header, as `/openapi.json` describes it. */
export interface Operation {
  name: string
  method: string
  /** With `{names}` where ids go. */
  path: string
  engine: KeyEngine
  /** Any of them is enough. */
  scopes: string[]
  /** Schema of the body, if the operation takes one. */
  schema: Json
  /** Example of the body. */
  example: Json
  /** Names of query parameters. */
  query: string[]
  statuses: number[]
  /** Example of each error, by status. */
  errors: Record<string, Json>
}

/** Every operation of the document that takes a key in the header. */
export function operationsOf(document: Json): Operation[] {
  return Object.entries<Json>(document.paths).flatMap(([path, operations]) =>
    Object.entries<Json>(operations)
      .filter(([, { security }]) => security?.some(({ apiKey }: Json) => apiKey))
      .map(([method, { security, parameters = [], requestBody, responses, tags }]) => ({
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        engine: KEY_ENGINES.find((engine) => tags.includes(engine)) as KeyEngine,
        scopes: security.flatMap(({ apiKey }: Json) => apiKey),
        schema: requestBody?.content['application/json'].schema,
        example: requestBody?.content['application/json'].example,
        query: parameters
          .filter((each: Json) => each.in === 'query')
          .map((each: Json) => each.name),
        statuses: Object.keys(responses).map(Number),
        errors: Object.fromEntries(
          Object.entries<Json>(responses)
            .filter(([status]) => status >= '400')
            .map(([status, { content }]) => [status, content['application/json'].example]),
        ),
      })),
  )
}

/** The paths up to each `{name}`, which are the kinds of objects that paths name. */
export const objectsIn = (path: string): string[] =>
  [...path.matchAll(/\{\w+\}/g)].map(({ 0: name, index }) => path.slice(0, index + name.length))

/** Operations in an order in which each finds its object: deletions last, those of parts first. */
export function inOrder(operations: Operation[]): Operation[] {
  const rank = ({ method, path }: Operation) =>
    method === 'DELETE' ? (path.includes('sessions/{') ? 1 : 1000 - path.length) : 0
  return operations.toSorted((one, other) => rank(one) - rank(other))
}
