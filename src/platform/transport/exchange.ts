import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import { isIP, type Socket } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { type CollectedBody, collectBody } from './body.ts'
import type { Call } from './call.ts'
import { asCallFailure, bodyIssue, brokenOff, CallFailure } from './failure.ts'
import type { Peer } from './peer.ts'

/** A checked request and the peer to send it to. */
export interface Dial {
  url: URL
  peer: Peer
  /** In upper case. */
  method: string
  headers: Iterable<[name: string, value: string]>
  body: Uint8Array | null
  maxResponseBytes: number
  /** Whether the head of the response is enough and the body may be incomplete. */
  headIsEnough?: boolean
  /** With `headIsEnough`: maximum time for the body after the head. */
  bodyTimeoutMs?: number | undefined
  /** Whether a redirect is a failure, whose body is not read. */
  refusesRedirects?: boolean
}

export interface Reply extends CollectedBody {
  status: number
  headers: [name: string, value: string][]
}

/** Sends one request and reads the response. Rejects with `CallFailure`. */
export type Exchange = (dial: Dial, call: Call) => Promise<Reply>

const MAX_RESPONSE_HEAD_BYTES = 65_536

/** Reading more until the deadline would keep the process busy and block all other work. */
const MAX_INTERIM_ANSWERS = 1000

/**
 * The HTTP transport of all calls. `node:http` gets the peer's address, so that after a check of the
 * address no second DNS lookup can return a different one; the name is used only for SNI and the
 * certificate. Proxy settings are ignored. The global `fetch` would allow at most 256 concurrent
 * calls per process, so as many long polls would block all others.
 *
 * Each call opens a new connection. With a connection pool, against a target that closes idle
 * connections at about the rate of the calls, 3 to 9 of 1,000 POSTs failed on a socket that had
 * just been closed, without any way to tell whether the target had handled them. A handshake costs
 * about a millisecond; a duplicate payment or a lost one-time code costs more.
 *
 * `ca` are root certificates (PEM) that are trusted in addition to the usual ones.
 */
export function createExchange(ca: string | string[] = []): Exchange {
  const roots = [ca].flat()
  // Created once, because loading the root certificates per call would double a handshake's cost.
  const secureContext =
    roots.length > 0
      ? createSecureContext({ ca: [...getCACertificates('default'), ...roots] })
      : undefined

  function open(dial: Dial): ClientRequest {
    const { url, peer, method } = dial
    const plain: RequestOptions = {
      host: peer.address,
      port: peer.port,
      method,
      path: url.pathname + url.search,
      headers: fields(dial),
      agent: false,
      setHost: false,
      insecureHTTPParser: false,
      maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
    }
    if (url.protocol === 'http:') return http.request(plain)
    const servername = isIP(peer.name) ? undefined : peer.name
    // Explicit because an environment variable can disable the default.
    const identity = { rejectUnauthorized: true, servername }
    const secure = { ...plain, ...identity, secureContext }
    return https.request(secure)
  }

  return (dial, call) =>
    new Promise((resolve, reject) => {
      call.enter('connect')
      const request = open(dial)
      let giveUp: (failure: CallFailure) => void = reject
      const fail = (failure: CallFailure) => {
        giveUp(failure)
        request.destroy()
      }
      const succeed = (reply: Reply) => {
        resolve(reply)
        request.destroy()
      }
      follow(request, dial, call, fail)
      request.on('response', (response) => {
        if (dial.refusesRedirects && isRedirect(response)) return fail(redirected())
        const makeDo = read(response, dial, call, succeed, fail)
        if (!dial.headIsEnough) return
        giveUp = (failure) => makeDo(bodyIssue(failure))
        if (dial.bodyTimeoutMs !== undefined) call.limitBody(dial.bodyTimeoutMs)
      })
      call.onCut((failure) => {
        // Fails immediately if the request has not been sent, because waiting would let it be sent.
        if (dial.headIsEnough && call.phase() === 'wait') afterOneMoreRead(() => fail(failure))
        else fail(failure)
      })
      request.end(dial.body ?? undefined)
    })
}

/** A flat list of headers, so that names keep their case and duplicates aren't merged. */
function fields({ url, method, headers, body }: Dial): string[] {
  return [['Host', url.host], ...headers, ...contentLength(method, body)].flat()
}

/** Set here, because otherwise a GET could be sent with an unannounced body. */
function contentLength(method: string, body: Uint8Array | null): [string, string][] {
  if (body === null && ['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(method)) return []
  return [['Content-Length', String(body?.length ?? 0)]]
}

const isRedirect = ({ statusCode = 0 }: IncomingMessage) => statusCode >= 300 && statusCode < 400

const redirected = () => new CallFailure('redirect', 'redirects are not followed')

const ONLY_INTERIM = 'the server sends too many interim responses'

/** Follows the phases of the socket, and fails the call however it ends early. */
function follow(
  request: ClientRequest,
  { url, peer }: Dial,
  call: Call,
  fail: (failure: CallFailure) => void,
) {
  const secure = url.protocol === 'https:'
  request.on('socket', (socket: Socket) => {
    socket.once('connect', () => call.enter(secure ? 'tls' : 'wait'))
    if (secure) socket.once('secureConnect', () => call.enter('wait'))
  })
  request.on('error', (error) => {
    const failure = asCallFailure(error, call.phase(), peer)
    afterWhatHasArrived(() => fail(failure))
  })
  let interim = 0
  request.on('information', () => {
    if (++interim > MAX_INTERIM_ANSWERS) fail(new CallFailure('protocol', ONLY_INTERIM))
  })
  request.on('upgrade', () => fail(new CallFailure('protocol', 'the server switched protocols')))
  request.on('close', () => afterWhatHasArrived(() => fail(brokenOff(call.phase()))))
}

/** Waits for received bytes, because the parser reports an error before passing them on. */
const afterWhatHasArrived = (then: () => void) => void setImmediate(then)

/** If the process is busy, the head may have arrived unread when the deadline passes. */
const afterOneMoreRead = (then: () => void) => afterWhatHasArrived(() => afterWhatHasArrived(then))

function read(
  response: IncomingMessage,
  dial: Dial,
  call: Call,
  succeed: (reply: Reply) => void,
  fail: (failure: CallFailure) => void,
): (issue: string) => void {
  call.enter('read')
  const status = response.statusCode ?? 0
  const headers = pairs(response.rawHeaders)
  response.on('error', (error) => {
    afterWhatHasArrived(() => fail(asCallFailure(error, 'read', dial.peer)))
  })
  response.on('close', () => afterWhatHasArrived(() => fail(brokenOff('read'))))
  return collectBody(response, dial.maxResponseBytes, (body) =>
    succeed({ status, headers, ...body }),
  )
}

function pairs(flat: string[]): [string, string][] {
  const result: [string, string][] = []
  for (let i = 0; i + 1 < flat.length; i += 2) result.push([flat[i] ?? '', flat[i + 1] ?? ''])
  return result
}
