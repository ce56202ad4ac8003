import { type AnyElysia, Elysia } from 'elysia'
import { type Access, createAccess } from '../../src/http/access.ts'
import { createClientAddress } from '../../src/http/client-address.ts'
import { createHttpMetrics } from '../../src/http/http-metrics.ts'
import { createMiddleware } from '../../src/http/middleware.ts'
import { createRequestContexts } from '../../src/http/request-context.ts'
import { createTurns } from '../../src/http/turns.ts'
import type { Engine } from '../../src/platform/engines.ts'
import { createMetrics } from '../../src/platform/metrics/index.ts'
import { bootTestApp } from '../support/app.ts'

/** The platform and the middleware with routes of the test's own, and a new key for each call. */
export async function bootRoutes(routesOf: (access: Access) => AnyElysia) {
  const { platform, clock, tenant, stop } = await bootTestApp()
  const { keys, metering } = platform
  const contexts = createRequestContexts({ clock, metering, perMinute: 6000 })
  const access = createAccess({
    keys,
    contexts,
    turns: createTurns(),
    addressOf: () => undefined,
    maxBody: 1000,
  })
  const middleware = createMiddleware({
    log: platform.log,
    metrics: createHttpMetrics(createMetrics()),
    clientAddress: createClientAddress([]),
    contexts,
    routes: () => app,
  })
  const app = new Elysia({ normalize: false }).use(middleware).use(routesOf(access)) as AnyElysia
  const { key } = await tenant()

  async function as(engine: Engine, scopes?: string[]) {
    const { key: secret } = await key(engine, undefined, scopes)
    return async (method: string, path: string, body?: BodyInit, type = 'application/json') => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': type }
      const request = new Request(`http://localhost${path}`, { method, headers, body })
      const response = await app.handle(request)
      return { status: response.status, body: await response.json() }
    }
  }

  /** A request whose body comes in two parts: one at once, which `begun` waits for, one at `end`. */
  function slowly({ key, path, type, parts }: Slow) {
    const { readable: body, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const bytes = new TextEncoder()
    const headers = { authorization: `Bearer ${key}`, 'content-type': type }
    const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body })
    const answer = app.handle(request)
    const begun = writer.write(bytes.encode(parts[0]))
    async function end() {
      await writer.write(bytes.encode(parts[1]))
      await writer.close()
      return await answer
    }
    return { begun, end }
  }

  return { as, slowly, key, keys, clock, [Symbol.asyncDispose]: stop }
}

interface Slow {
  key: string
  path: string
  type: string
  parts: readonly [string, string]
}
