import type { AnyElysia } from 'elysia'

/** Bun closes connections that are idle for longer. */
const IDLE_SECONDS = 30

export interface Listener {
  url: string
  port: number
  /** Ends idle connections and takes no new ones; answers under way are finished. */
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
    stop: () => server.stop(),
  }
}

async function head(app: AnyElysia, request: Request): Promise<Response> {
  const { url, headers } = request
  const { status, headers: answered } = await app.fetch(new Request(url, { headers }))
  return new Response(null, { status, headers: answered })
}
