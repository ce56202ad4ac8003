import http, { type ClientRequest, type RequestOptions } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import type { Clock } from './clock.ts'
import { collectBody } from './outbound/body.ts'

/**
 * A fetch with limits on time and size. The body of the response has already been read completely.
 */
export type BoundedFetch = (
  url: string,
  init?: Init & {
    /** Aborts the call. */
    signal?: AbortSignal
  },
) => Promise<Response>

interface Init {
  method?: string
  headers?: Record<string, string>
  body?: string | URLSearchParams
}

export interface BoundedFetchOptions {
  clock: Clock
  /** The deadline of the whole call, from the DNS lookup to the last byte. */
  timeoutMs?: number
  maxBodyBytes?: number
  /** Additional trusted root certificates, PEM. */
  ca?: string | string[]
}

/**
 * Why a call failed. `message` contains at most the host, because paths and queries may contain
 * secrets.
 */
export class FetchFailure extends Error {
  constructor(
    readonly reason: 'timeout' | 'too_large' | 'redirect' | 'unreachable' | 'aborted',
    message: string,
  ) {
    super(message)
    this.name = 'FetchFailure'
  }
}

const USUAL_TIMEOUT_MS = 10_000
const USUAL_BODY_BYTES = 1_000_000
const MAX_HEAD_BYTES = 65_536

/** Reading more until the deadline would keep the process busy and block all other work. */
const MAX_INTERIM_ANSWERS = 1000

/**
 * A fetch for addresses that the operator configured or that are built in. It doesn't use the rules
 * of `outbound`, which keep tenants' calls out of the operator's network, because an operator's own
 * services, such as GitLab, may be in that network.
 *
 *
 * The environment can set neither a proxy nor weaker certificate checks. Redirects are not
 * followed, because they could send a secret to any address. Connections are not reused, because a
 * one-time code lost on a connection that was just closed can't be sent again. Compression is
 * neither requested nor decoded, so the size limit applies to the bytes in memory.
 *
 *
 * It uses `node:http`, because the global `fetch` allows at most 256 concurrent calls per process,
 * and as many calls that the other end holds open, such as long polls, would block all others.
 */
export function createBoundedFetch(options: BoundedFetchOptions): BoundedFetch {
  const { clock, timeoutMs = USUAL_TIMEOUT_MS, maxBodyBytes = USUAL_BODY_BYTES } = options
  // Created once, because loading the root certificates for each call would double the cost of a
  // handshake.
  const secureContext = options.ca
    ? createSecureContext({ ca: withUsualRoots(options.ca) })
    : undefined

  function open(url: URL, method: string, headers: Headers): ClientRequest {
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    const plain: RequestOptions = {
      host,
      port: url.port,
      method,
      path: url.pathname + url.search,
      headers: [...headers].flat(),
      agent: false,
      setHost: false,
      insecureHTTPParser: false,
      maxHeaderSize: MAX_HEAD_BYTES,
    }
    if (url.protocol === 'http:') return http.request(plain)
    const servername = isIP(host) ? undefined : host.replace(/\.$/, '')
    // Explicit because an environment variable can disable the default.
    const identity = { rejectUnauthorized: true, servername }
    const secure = { ...plain, ...identity, secureContext }
    return https.request(secure)
  }

  async function answerTo(url: string, init: Init, signal: AbortSignal) {
    const target = URL.parse(url)
    if (!target || !/^https?:$/.test(target.protocol)) throw failure('unreachable', url)
    const method = init.method?.toUpperCase() ?? 'GET'
    const bytes = Buffer.from(init.body?.toString() ?? '')
    const request = open(target, method, headersOf(target, method, bytes, init))
    const answer = answerOf(request, url, maxBodyBytes, signal)
    request.end(bytes)
    const { status, rawHeaders, body } = await answer
    const headers = paired(rawHeaders)
    return new Response(body.length === 0 ? null : new Uint8Array(body), { status, headers })
  }

  return async (url, { signal, ...init } = {}) => {
    if (signal?.aborted) throw failure('aborted', url)
    const cut = new AbortController()
    const abort = () => cut.abort(failure('aborted', url))
    signal?.addEventListener('abort', abort)
    const cancel = clock.after(timeoutMs, () => cut.abort(failure('timeout', url)))
    try {
      return await answerTo(url, init, cut.signal)
    } catch (error) {
      const cause = cut.signal.aborted ? cut.signal.reason : error
      throw cause instanceof FetchFailure ? cause : failure('unreachable', url, codeOf(cause))
    } finally {
      cancel()
      signal?.removeEventListener('abort', abort)
      // Closes the connection even if more data is coming, such as the body of a redirect.
      cut.abort()
    }
  }
}

/** Adds certificates to the default roots, which they would otherwise replace. */
const withUsualRoots = (ca: string | string[]) => [...getCACertificates('default'), ...[ca].flat()]

/**
 * The headers of a request. Host and length are always set here, because otherwise a body could be
 * sent unannounced.
 */
function headersOf({ host }: URL, method: string, bytes: Uint8Array, given: Init): Headers {
  const headers = new Headers(given.headers)
  headers.set('host', host)
  headers.set('accept-encoding', 'identity')
  if (given.body instanceof URLSearchParams && !headers.has('content-type'))
    headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8')
  if (bytes.length > 0 || method !== 'GET') headers.set('content-length', `${bytes.length}`)
  return headers
}

interface Answer {
  status: number
  rawHeaders: string[]
  body: Uint8Array
}

/** Sends a request and reads the response; destroys the request when `signal` aborts. */
function answerOf(
  request: ClientRequest,
  url: string,
  limit: number,
  signal: AbortSignal,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const brokenOff = (error?: Error) => afterWhatHasArrived(() => reject(error))
  let interim = 0
  signal.addEventListener('abort', () => {
    reject(signal.reason)
    request.destroy()
  })
  request.on('error', brokenOff).on('close', brokenOff)
  request.on('upgrade', (_, socket) => {
    // The socket no longer belongs to the request.
    socket.destroy()
    brokenOff()
  })
  request.on('information', () => {
    if (++interim > MAX_INTERIM_ANSWERS) reject(failure('too_large', url))
  })
  request.on('response', (response) => {
    const { statusCode: status = 0, rawHeaders } = response
    response.on('error', brokenOff).on('close', brokenOff)
    if (status >= 300 && status < 400) return reject(failure('redirect', url))
    collectBody(response, limit, ({ body, truncated }) => {
      if (truncated) reject(failure('too_large', url))
      else resolve({ status, rawHeaders, body })
    })
  })
  return promise
}

/**
 * Waits for received bytes, because the parser reports an error before it passes on the bytes
 * before it.
 */
const afterWhatHasArrived = (then: () => void) => void setImmediate(then)

function paired(flat: string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i + 1 < flat.length; i += 2) headers.append(flat[i] ?? '', flat[i + 1] ?? '')
  return headers
}

const WORDS = {
  timeout: 'did not respond completely in time',
  too_large: 'sent a response that is too large',
  redirect: 'redirects, but redirects are not followed',
  unreachable: 'cannot be reached',
  aborted: 'was cancelled',
}

function failure(reason: FetchFailure['reason'], url: string, code = '') {
  const host = URL.parse(url)?.host ?? 'an invalid URL'
  return new FetchFailure(reason, `${host} ${WORDS[reason]}${code && ` (${code})`}`)
}

/** The system's code of an error. The message is not used, because it could contain the URL. */
const codeOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^\w{1,60}$/.test(code) ? code : ''
}
