import http, { type ClientRequest, type RequestOptions } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import type { Clock } from './clock.ts'
import { collectBody } from './outbound/body.ts'

/** One call, within bounds. The body of the answer has been read whole. */
export type BoundedFetch = (
  url: string,
  init?: Init & {
    /** The call does not outlive it. */
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
  /** From the name to the last byte. */
  timeoutMs?: number
  maxBodyBytes?: number
  /** Roots trusted beside the usual ones, PEM. */
  ca?: string | string[]
}

/** Why there is no answer. `message` names a host at most: paths and queries may hold secrets. */
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

/** Read at full speed until the deadline, they would take the process from everybody else. */
const MAX_INTERIM_ANSWERS = 1000

/**
 * For addresses that the operator chose, by configuring them or by leaving those that are built
 * in. The rules of `outbound`, which keep what a tenant chose out of the operator's network, are
 * for others: an operator's own GitLab stands in that network.
 *
 * Neither a proxy nor a laxer look at certificates comes from the environment. No redirect is
 * followed: it would carry a secret to whatever address the answer names. Connections are not
 * kept, as a code that was sent on one that had just been closed cannot be sent again. Nothing
 * compressed is asked for or unpacked, so that the cap counts what is held in memory.
 *
 * It stands on `node:http`, as the global `fetch` has no more than 256 calls in flight in a
 * process: as many that are held at their other end, such as polls, would keep up all others.
 */
export function createBoundedFetch(options: BoundedFetchOptions): BoundedFetch {
  const { clock, timeoutMs = USUAL_TIMEOUT_MS, maxBodyBytes = USUAL_BODY_BYTES } = options
  // Built once: reading the roots anew for each call doubles the cost of a handshake.
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
    // Said aloud because the environment can turn its default off.
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
      // Whatever is still to come, such as the body of a redirect, would keep the connection.
      cut.abort()
    }
  }
}

/** What is given would take the place of the usual roots. */
const withUsualRoots = (ca: string | string[]) => [...getCACertificates('default'), ...[ca].flat()]

/** Host and framing are always ours: without it a body would go out that nothing announces. */
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

/** What a request comes to. Nothing is left of it once `signal` is given. */
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
    // It is no longer the request's.
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

/** The parser tells of an error before it hands over the bytes in front of it. */
const afterWhatHasArrived = (then: () => void) => void setImmediate(then)

function paired(flat: string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i + 1 < flat.length; i += 2) headers.append(flat[i] ?? '', flat[i + 1] ?? '')
  return headers
}

const WORDS = {
  timeout: 'gave no complete answer in time',
  too_large: 'answers with more than is read',
  redirect: 'redirects, which is not followed',
  unreachable: 'cannot be reached',
  aborted: 'is not waited for any longer',
}

function failure(reason: FetchFailure['reason'], url: string, code = '') {
  const host = URL.parse(url)?.host ?? 'an address that is none'
  return new FetchFailure(reason, `${host} ${WORDS[reason]}${code && ` (${code})`}`)
}

/** The system's name of an error. Its text could quote the URL. */
const codeOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^\w{1,60}$/.test(code) ? code : ''
}
