import { errorBody, failureOf } from '../http/errors.ts'
import { newRequestId } from '../http/request-id.ts'
import { SECURITY_HEADERS } from '../http/security-headers.ts'
import { unavailable } from '../platform/errors.ts'

/** Seconds after which a client may try again, at this server or another one. */
const RETRY_SECONDS = '1'

/** What a standby says of itself. */
export interface DoorParts {
  /** The name of the active server; undefined if none is known. */
  active: () => string | undefined
  /** Metrics as text; undefined if they are off. */
  metrics: (() => string) | undefined
}

/**
 * Answers on the port of a server that is not active: it is alive, but not ready, and refuses
 * everything else with 503, so that a load balancer sends requests to the active one.
 */
export function openDoor(place: { host: string; port: number }, { active, metrics }: DoorParts) {
  const server = Bun.serve({
    hostname: place.host,
    port: place.port,
    development: false,
    // Another server on the same port would otherwise go unnoticed.
    reusePort: false,
    fetch: answer,
    error: () => refusal('/', 'this server is a standby'),
  })

  function answer(request: Request): Response {
    const { pathname } = new URL(request.url)
    if (pathname === '/healthz') return json({ status: 'alive' })
    if (pathname === '/readyz') return json({ status: 'standby' }, 503)
    if (pathname === '/metrics' && metrics)
      return new Response(metrics(), {
        headers: {
          ...SECURITY_HEADERS,
          'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        },
      })
    const name = active()
    const sentence = `this server is a standby. ${name === undefined ? 'No server is active at the moment' : `The active server is ${name}`}`
    return isForPage(request) ? page(sentence) : refusal(pathname, sentence)
  }

  return {
    /** Ends all connections, because another process needs the port now. */
    close: () => server.stop(true),
  }
}

const isForPage = ({ method, headers }: Request) =>
  method === 'GET' && (headers.get('accept') ?? '').includes('text/html')

const json = (body: object, status = 200, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers: { ...SECURITY_HEADERS, ...headers } })

function refusal(pathname: string, sentence: string): Response {
  const requestId = newRequestId()
  return json(errorBody(pathname, failureOf(unavailable(sentence)), requestId), 503, {
    'x-request-id': requestId,
    'retry-after': RETRY_SECONDS,
  })
}

const page = (sentence: string) =>
  new Response(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Standby</title><h1>Standby</h1><p>${Bun.escapeHTML(sentence)}.</p></html>`,
    {
      status: 503,
      headers: {
        ...SECURITY_HEADERS,
        'content-type': 'text/html; charset=utf-8',
        'retry-after': RETRY_SECONDS,
      },
    },
  )
