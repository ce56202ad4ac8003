import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { type CollectedBody, collectBody } from './body.ts'
import type { Call } from './call.ts'
import { asCallFailure, bodyTrouble, brokenOff } from './call-failure.ts'
import { CallFailure } from './failure.ts'
import type { Target } from './url-rules.ts'

/** A checked request and the checked address to call. */
export interface Dial {
  target: Target
  address: string
  method: string
  headers: [name: string, value: string][]
  body: Uint8Array | null
  maxResponseBytes: number
  /** Whether the head of the response is enough and the body may be incomplete. */
  headIsEnough: boolean
  bodyTimeoutMs: number | undefined
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
 * The HTTP transport. `node:http` gets the checked address, so that no second DNS lookup can return
 * a different one; the name is used only for SNI and the certificate. Proxy settings are ignored.
 *
 *
 * Each call opens a new connection. With a connection pool, against a target that closes idle
 * connections at about the rate of the calls, 3 to 9 of 1,000 POSTs failed on a socket that had
 * just been closed, without any way to tell whether the target had handled them. A handshake costs
 * about a millisecond; a duplicate payment costs more.
 */
export function createExchange(ca: string[]): Exchange {
  // Created once, because loading the root certificates for each call would double the cost of a
  // handshake.
  const secureContext =
    ca.length > 0
      ? createSecureContext({ ca: [...getCACertificates('default'), ...ca] })
      : undefined

  function open(dial: Dial): ClientRequest {
    const { target, address, method } = dial
    const plain: RequestOptions = {
      host: address,
      port: target.port,
      method,
      path: target.url.pathname + target.url.search,
      headers: fields(dial),
      agent: false,
      setHost: false,
      insecureHTTPParser: false,
      maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
    }
    if (target.url.protocol === 'http:') return http.request(plain)
    const secure = { ...plain, ...identity(target), secureContext }
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
        const makeDo = read(response, dial, call, succeed, fail)
        if (!dial.headIsEnough) return
        giveUp = (failure) => makeDo(bodyTrouble(failure))
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

/**
 * TLS options. `rejectUnauthorized` is explicit because an environment variable can disable its
 * default.
 */
const identity = ({ name, isAddress }: Target) => ({
  rejectUnauthorized: true,
  servername: isAddress ? undefined : name,
})

/** A flat list of headers, so that names keep their case and duplicates aren't merged. */
function fields({ target, method, headers, body }: Dial): string[] {
  const framing = contentLength(method, body)
  return [['Host', target.url.host], ...headers, ...framing].flat()
}

/**
 * Always sets the length itself, because otherwise a GET could be sent with an unannounced body.
 */
function contentLength(method: string, body: Uint8Array | null): [string, string][] {
  if (body === null && ['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(method)) return []
  return [['Content-Length', String(body?.length ?? 0)]]
}

const ONLY_INTERIM = 'the server sends too many interim responses'

/** Follows the phases of the socket, and fails the call however it ends early. */
function follow(
  request: ClientRequest,
  { target, address }: Dial,
  call: Call,
  fail: (failure: CallFailure) => void,
) {
  const secure = target.url.protocol === 'https:'
  request.on('socket', (socket: Socket) => {
    socket.once('connect', () => call.enter(secure ? 'tls' : 'wait'))
    if (secure) socket.once('secureConnect', () => call.enter('wait'))
  })
  request.on('error', (error) => {
    const peer = { name: target.name, address, port: target.port }
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

/**
 * Waits for received bytes, because the parser reports an error before it passes on the bytes
 * before it.
 */
const afterWhatHasArrived = (then: () => void) => void setImmediate(then)

/**
 * Waits until sockets have been read once more. If the process is busy, the head may have arrived
 * unread when the deadline passes.
 */
const afterOneMoreRead = (then: () => void) => afterWhatHasArrived(() => afterWhatHasArrived(then))

function read(
  response: IncomingMessage,
  dial: Dial,
  call: Call,
  succeed: (reply: Reply) => void,
  fail: (failure: CallFailure) => void,
): (trouble: string) => void {
  call.enter('read')
  const peer = { name: dial.target.name, address: dial.address, port: dial.target.port }
  const status = response.statusCode ?? 0
  const headers = pairs(response.rawHeaders)
  response.on('error', (error) => {
    afterWhatHasArrived(() => fail(asCallFailure(error, 'read', peer)))
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
