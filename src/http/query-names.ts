import { invalid, type Rule } from '../platform/errors.ts'

/** The parts of an app that query checks need. */
export interface QueryRoutes {
  routes: readonly { method: string; path: string; hooks: unknown }[]
}

/** API routes. Links to pages collect parameters; Telegram's webhook checks its secret first. */
const OF_PROGRAMS = /^\/(?:v1|access|dashboard|public)\/(?!passepartout\/telegram\/)/

/** Rejects unknown or repeated names: a typo would list everything. Check credentials first. */
export function createQueryNames(appOf: () => QueryRoutes) {
  let known: Map<string, ReadonlySet<string>> | undefined

  return ({ request, route }: { request: Request; route: string }) => {
    const { url, method } = request
    const start = url.indexOf('?')
    if (start === -1 || !OF_PROGRAMS.test(route)) return
    known ??= namesOf(appOf())
    requireKnown(new URLSearchParams(url.slice(start)), known.get(`${method} ${route}`) ?? NONE)
  }
}

const NONE: ReadonlySet<string> = new Set()

function namesOf({ routes }: QueryRoutes) {
  return new Map(
    routes.map(({ method, path, hooks }) => {
      const { query } = hooks as { query?: { properties?: object } }
      return [`${method} ${path}`, new Set(Object.keys(query?.properties ?? {}))]
    }),
  )
}

function requireKnown(query: URLSearchParams, known: ReadonlySet<string>) {
  const seen = new Set<string>()
  for (const name of query.keys()) {
    if (!known.has(name)) throw unknownParameter(name, [...known])
    if (seen.has(name)) throw refusal(name, 'duplicate', 'is set twice; send it once')
    seen.add(name)
  }
}

/** The error for a query parameter that a route with the `known` ones doesn't have. */
export const unknownParameter = (name: string, known: readonly string[]) =>
  refusal(name, 'unknown', `is not a known parameter; ${choiceOf(known)}`)

const refusal = (name: string, rule: Rule, problem: string) =>
  invalid(problem, { field: name.slice(0, 100), rule, code: 'invalid_request' })

const choiceOf = (known: readonly string[]): string =>
  known.length === 0 ? 'this route has no parameters' : `this route accepts ${known.join(', ')}`
