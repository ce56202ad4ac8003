import type { AnyElysia } from 'elysia'
import type { Log } from '../platform/log.ts'
import { notePeer, passOnPeer } from './peers.ts'
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
export function serve(
  app: AnyElysia,
  { host, port }: { host: string; port: number },
  log: Log,
): Listener {
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // What nobody has thought of: the details are for us alone.
    error: (error) => {
      log.error('request broke', { error: error.stack ?? error.message })
      return plain(500, 'something went wrong on our side')
    },
    development: false,
    // Without this, the line above would let a second server take the same port unnoticed.
    reusePort: false,
    fetch: (request) => {
      if (!HAS_HOST.test(request.url)) return badHost()
      if (!notePeer(request, server)) return gone()
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

const badHost = () => plain(400, 'Host: expected a host name')

/** Nobody reads it: the connection ended before its request was looked at. */
const gone = () => plain(400, 'the connection is gone')

const plain = (status: number, error: string) =>
  Response.json({ error }, { status, headers: SECURITY_HEADERS })

/** RFC 9110, section 9.3.2: the header of the GET, and its length where it ever ends. */
async function head(app: AnyElysia, request: Request): Promise<Response> {
  const { url, headers, signal } = request
  const get = new Request(url, { headers, signal })
  passOnPeer(request, get)
  const answer = await app.fetch(get)
  if (answer.headers.get('content-type')?.startsWith('text/event-stream'))
    await answer.body?.cancel()
  else answer.headers.set('content-length', `${(await answer.arrayBuffer()).byteLength}`)
  return new Response(null, { status: answer.status, headers: answer.headers })
}
