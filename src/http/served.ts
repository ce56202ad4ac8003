import type { AnyElysia } from 'elysia'
import { late } from '../db/statements.ts'
import { pathIn } from './wire-flaws.ts'

export type Served = ReturnType<typeof createServed>

/**
 * Answers by `app`, and below the late paths by an app that is loaded with its modules at the first
 * request there. `server` is set once it listens.
 */
export function createServed(
  app: AnyElysia,
  { paths, load }: { paths: RegExp; load: () => Promise<AnyElysia> },
) {
  let loaded: AnyElysia | undefined
  const loading = late(async () => {
    loaded = await load()
    return loaded
  })

  function answer(request: Request): Response | Promise<Response> {
    if (!paths.test(pathIn(request.url))) return app.fetch(request)
    return loaded ? loaded.fetch(request) : loading().then((loaded) => loaded.fetch(request))
  }

  return {
    server: null as AnyElysia['server'],
    fetch: answer,
    /** Loads everything, and lists the routes. */
    routes: async () => [...app.routes, ...(await loading()).routes],
  }
}
