import type { AnyElysia } from 'elysia'
import { SECURITY_HEADERS } from './security-headers.ts'

/** Bun closes connections that are idle for longer. */
const IDLE_SECONDS = 30
/** The runtime keeps count of open requests, and does not tell when it reaches none. */
const PENDING_CHECK_MS = 10

export interface Listener {
  url: string
  port: number
  /** Takes no new connections, finishes the answers under way, then ends idle ones too. */
  stop(): Promise<void>
}

/**
 * Serves the app. HEAD is answered as GET without its body. The size of bodies is the kit's
 * concern, which answers readably: Bun itself would cut the connection.
 */
export function serve(app: AnyElysia, { host, port }: { host: string; port: number }): Listener {
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request) => {
      if (!HAS_HOST.test(request.url)) return badHost()
      return request.method === 'HEAD' ? head(app, request) : app.fetch(request)
    },
  })
  app.server = server as never
  return {
    url: server.url.origin,
    port: server.port as number,
    stop: async () => {
      const stopped = server.stop()
      while (server.pendingRequests > 0) await Bun.sleep(PENDING_CHECK_MS)
      await Promise.race([server.stop(true), stopped])
    },
  }
}

/** The router cuts the path out of the whole URL, so that a strange host would move it. */
const HAS_HOST = /^https?:\/\/[\w.:[\]-]+\//

const badHost = () =>
  Response.json({ error: 'Host: expected a host name' }, { status: 400, headers: SECURITY_HEADERS })

/** RFC 9110, section 9.3.2: the header of the GET, its length included. */
async function head(app: AnyElysia, { url, headers, signal }: Request): Promise<Response> {
  const answer = await app.fetch(new Request(url, { headers, signal }))
  const { byteLength } = await answer.arrayBuffer()
  answer.headers.set('content-length', `${byteLength}`)
  return new Response(null, { status: answer.status, headers: answer.headers })
}
