import type { AnyElysia } from 'elysia'

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
    fetch: (request) => (request.method === 'HEAD' ? head(app, request) : app.fetch(request)),
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

async function head(app: AnyElysia, request: Request): Promise<Response> {
  const { url, headers } = request
  const { status, headers: answered } = await app.fetch(new Request(url, { headers }))
  return new Response(null, { status, headers: answered })
}
