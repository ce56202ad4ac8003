import { type AnyElysia, Elysia } from 'elysia'
import { type Access, createAccess } from '../../src/http/access.ts'
import { createHttpMetrics } from '../../src/http/http-metrics.ts'
import { createMiddleware } from '../../src/http/middleware.ts'
import { createRequestContexts } from '../../src/http/request-context.ts'
import { createTurns } from '../../src/http/turns.ts'
import type { Engine } from '../../src/platform/engines.ts'
import { createMetrics } from '../../src/platform/metrics/index.ts'
import { bootTestApp } from '../support/app.ts'

interface Slow {
  key: string
  path: string
  type: string
  parts: readonly [string, string]
}

/** The platform and the middleware with routes of the test's own, and a new key for each call. */
export async function bootRoutes(routesOf: (access: Access) => AnyElysia) {
  const { platform, clock, tenant, stop } = await bootTestApp()
  const { keys, metering, log, siblings } = platform
  const contexts = createRequestContexts({ clock, metering, siblings, perMinute: 6000 })
  const turns = createTurns()
  const addressOf = () => undefined
  const access = createAccess({ keys, contexts, turns, addressOf, maxBody: 1000 })
  const metrics = createHttpMetrics(createMetrics())
  const middleware = createMiddleware({ log, metrics, addressOf, contexts, routes: () => app })
  const app = new Elysia({ normalize: false }).use(middleware).use(routesOf(access)) as AnyElysia
  const { key } = await tenant()

  const ask = (path: string, type: string, secret: string, init: RequestInit): Promise<Response> =>
    app.handle(
      new Request(`http://localhost${path}`, {
        ...init,
        headers: { authorization: `Bearer ${secret}`, 'content-type': type },
      }),
    )

  async function as(engine: Engine, scopes?: string[]) {
    const { key: secret } = await key(engine, undefined, scopes)
    return async (method: string, path: string, body?: BodyInit, type = 'application/json') => {
      const response = await ask(path, type, secret, { method, body })
      return { status: response.status, body: await response.json() }
    }
  }

  /** A request whose body comes in two parts: one at once, which `begun` waits for, one at `end`. */
  function slowly({ key, path, type, parts }: Slow) {
    const { readable: body, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const answer = ask(path, type, key, { method: 'POST', body })
    const begun = writer.write(Buffer.from(parts[0]))
    async function end() {
      await writer.write(Buffer.from(parts[1]))
      await writer.close()
      return await answer
    }
    return { begun, end }
  }

  return { as, slowly, key, keys, clock, [Symbol.asyncDispose]: stop }
}
