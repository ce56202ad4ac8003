import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { type CollectedBody, collectBody } from './body.ts'
import type { Call } from './call.ts'
import { asCallFailure, bodyTrouble, brokenOff } from './call-failure.ts'
import { CallFailure } from './failure.ts'
import type { Target } from './url-rules.ts'

/** A request that has passed every check, and the checked address that it goes to. */
export interface Dial {
  target: Target
  address: string
  method: string
  headers: [name: string, value: string][]
  body: Uint8Array | null
  maxResponseBytes: number
  /** The answer counts from its head on, and its body may come to any end. */
  headIsEnough: boolean
  bodyTimeoutMs: number | undefined
}

export interface Reply extends CollectedBody {
  status: number
  headers: [name: string, value: string][]
}

/** Sends one request and reads its answer. Rejects with `CallFailure`. */
export type Exchange = (dial: Dial, call: Call) => Promise<Reply>

const MAX_RESPONSE_HEAD_BYTES = 65_536

/** Read at full speed until the deadline, they would take the process from everybody else. */
const MAX_INTERIM_ANSWERS = 1000

/**
 * The transport. `node:http` is handed the address, so there is no second look-up that could
 * answer differently, and the name only for SNI and the certificate. It knows of no proxy.
 *
 * Each call opens its own connection. A pool was tried: against a target that closes idle
 * connections at about the pace of the calls, 3 to 9 of 1,000 POSTs failed on a socket that
 * had just been closed, and nobody can tell whether such a request was carried out before it
 * is sent again. A handshake costs about a millisecond; a doubled payment costs more.
 */
export function createExchange(ca: string[]): Exchange {
  // Built once: reading the roots anew for each call doubles the cost of a handshake.
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
        // Before the request is out, waiting would let it out.
        if (dial.headIsEnough && call.phase() === 'wait') afterOneMoreRead(() => fail(failure))
        else fail(failure)
      })
      request.end(dial.body ?? undefined)
    })
}

/** `rejectUnauthorized` is said aloud because the environment can turn its default off. */
const identity = ({ name, isAddress }: Target) => ({
  rejectUnauthorized: true,
  servername: isAddress ? undefined : name,
})

/** Flat list, so that names keep their case and nothing is merged. */
function fields({ target, method, headers, body }: Dial): string[] {
  const framing = contentLength(method, body)
  return [['Host', target.url.host], ...headers, ...framing].flat()
}

/** Always our own: without it a GET would be sent with a body that nothing announces. */
function contentLength(method: string, body: Uint8Array | null): [string, string][] {
  if (body === null && ['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(method)) return []
  return [['Content-Length', String(body?.length ?? 0)]]
}

const ONLY_INTERIM = 'the target sends one interim answer after the other'

/** Moves the stopwatch on with the socket, and hears of every way in which it can end. */
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
  request.on('upgrade', () => fail(new CallFailure('protocol', 'the target switched protocols')))
  request.on('close', () => afterWhatHasArrived(() => fail(brokenOff(call.phase()))))
}

/** The parser tells of an error before it hands over the bytes in front of it. */
const afterWhatHasArrived = (then: () => void) => void setImmediate(then)

/**
 * Sockets are read between two immediates. In a process that is behind, the head may have
 * arrived and lie there unread when the deadline passes.
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
