import { withoutWrites } from '../db/no-writes.ts'
import type { AppError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import { errorBody, failureOf, statusOf } from './errors.ts'
import { compressPage, wantsPage } from './page-compression.ts'
import { notePeer, passOnPeer } from './peers.ts'
import { newRequestId } from './request-id.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import type { Served } from './served.ts'
import { byNumberOfSegments, flawIn, pathIn, type SentSegments } from './wire-flaws.ts'

/** Bun closes connections that are idle for longer. */
const IDLE_SECONDS = 30
/** Polled at shutdown, because Bun counts open requests but doesn't report when none is left. */
const PENDING_CHECK_MS = 10
/** How long clients of a shared port get, to leave and for requests that are under way to arrive. */
const LEAVING_MS = 250

export interface Listener {
  url: string
  port: number
  /** Accepts no new connections, finishes responses in progress, then closes idle connections. */
  stop(): Promise<void>
}

type App = Pick<Served, 'fetch' | 'server'>

/**
 * With `isShared`, other processes may listen on the same port, and Linux spreads connections over
 * them. HEAD is answered like GET and writes nothing. Rejects requests that a proxy could read
 * differently, and bodies over the limit, for which Bun would close the connection.
 */
export function serve(
  app: App,
  { host, port, isShared = false }: { host: string; port: number; isShared?: boolean },
  log: Log,
): Listener {
  let isLeaving = false
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // An unexpected error; its details appear only in the log.
    error: (error) => {
      log.error('request handling failed', { error: error.stack ?? error.message })
      return plain(500, 'something went wrong on our side')
    },
    development: false,
    // If not set, `development: false` would let a second server take the same port unnoticed.
    reusePort: isShared,
    routes: byNumberOfSegments((request: Bun.BunRequest) => answerTo(request, request.params)),
    fetch: (request) => answerTo(request, undefined),
  })

  function answerTo(request: Request, segments: SentSegments): Response | Promise<Response> {
    const flaw = flawIn(request, segments)
    if (flaw) return refusal(request, flaw)
    if (!notePeer(request, server)) return gone()
    const answer = request.method === 'HEAD' ? head(app, request) : answerOf(app, request)
    const isLast = isLeaving || request.headers.has('transfer-encoding')
    return isLast ? lastOfConnection(answer) : answer
  }

  /** Closes each connection after a response, so that its client goes on with another process. */
  async function leave() {
    isLeaving = true
    await Bun.sleep(LEAVING_MS)
  }

  app.server = server as never

  return {
    url: server.url.origin,
    port: server.port as number,
    stop: async () => {
      if (isShared) await leave()
      const stopped = server.stop()
      if (isShared) await Bun.sleep(LEAVING_MS)
      while (server.pendingRequests > 0) await Bun.sleep(PENDING_CHECK_MS)
      await Promise.race([server.stop(true), stopped])
    },
  }
}

/** An error response in the format of the engine that the path belongs to. */
function refusal({ url }: Request, flaw: AppError): Response {
  const failure = failureOf(flaw)
  const requestId = newRequestId()
  const headers = { ...SECURITY_HEADERS, 'x-request-id': requestId, connection: 'close' }
  const body = errorBody(pathIn(url), failure, requestId)
  return Response.json(body, { status: statusOf(failure), headers })
}

/**
 * For a process that stops; and because Bun answers trailers with a second response, which a proxy
 * would take for the next one.
 */
async function lastOfConnection(answer: Response | Promise<Response>): Promise<Response> {
  const { body, status, headers } = await answer
  const closing = new Headers(headers)
  closing.set('connection', 'close')
  return new Response(body, { status, headers: closing })
}

/** The response for a connection that closed before its request was read. It is never received. */
const gone = () => plain(400, 'the connection was closed')

const plain = (status: number, error: string) =>
  Response.json({ error }, { status, headers: SECURITY_HEADERS })

function answerOf(app: App, request: Request): Response | Promise<Response> {
  const answer = app.fetch(request)
  return wantsPage(request) ? compressed(request, answer) : answer
}

const compressed = async (request: Request, answer: Response | Promise<Response>) =>
  compressPage(request, await answer)

/** Runs the GET (RFC 9110, 9.3.2) but refuses writes: link previews send HEAD unprompted. */
async function head(app: App, request: Request): Promise<Response> {
  const { url, headers, signal } = request
  const get = new Request(url, { headers, signal })
  passOnPeer(request, get)
  const answer = await withoutWrites(() => answerOf(app, get))
  if (answer.headers.get('content-type')?.startsWith('text/event-stream'))
    await answer.body?.cancel()
  else answer.headers.set('content-length', `${(await answer.arrayBuffer()).byteLength}`)
  return new Response(null, { status: answer.status, headers: answer.headers })
}
