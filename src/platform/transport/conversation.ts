import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import type { Dial, Reply } from './dial.ts'
import { asCallFailure, bodyIssue, brokenOff, CallFailure } from './failure.ts'
import type { ResponseHead } from './response-head.ts'
import { type CollectedBody, createResponseReader } from './response-reader.ts'
import { afterOneMoreRead, afterWhatHasArrived } from './turns.ts'

/** A reused connection ended without a response, so the request can be sent on another one. */
export class LostConnection extends Error {}

export interface Conversation {
  dial: Dial
  /** The bytes of the request. */
  request: Buffer
  call: Call
  /** Whether the connection has carried another request before. */
  isReused: boolean
  /** Keeps the connection for the next request; undefined if it must be closed. */
  keep: ((connection: Connection, idleMs: number | undefined) => void) | undefined
}

/**
 * Sends one request on a connection and reads the response, then keeps or closes the connection.
 * Rejects with `CallFailure`, or with `LostConnection` if the reused connection had been closed.
 */
export function converse(
  connection: Connection,
  { dial, request, call, isReused, keep }: Conversation,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let isOver = false
    let head: ResponseHead | undefined
    const reader = createResponseReader({
      method: dial.method,
      limit: dial.maxResponseBytes,
      onHead,
      onBody,
    })

    function onHead(parsed: ResponseHead) {
      // A server that closes an idle connection may say so (RFC 9110, section 15.5.9).
      if (isReused && parsed.status === 408 && !parsed.persists) return lose()
      if (dial.refusesRedirects && isRedirect(parsed)) return giveUp(redirected())
      head = parsed
      call.enter('read')
      if (dial.headIsEnough && dial.bodyTimeoutMs !== undefined) call.limitBody(dial.bodyTimeoutMs)
    }

    function onBody(body: CollectedBody, isExact: boolean) {
      if (isOver || !head) return
      end(keep && isExact && head.persists && connection.isFlushed() ? keep : undefined)
      resolve({ status: head.status, headers: head.headers, ...body })
    }

    function end(kept?: Conversation['keep']) {
      isOver = true
      connection.listen(NOBODY)
      if (kept) kept(connection, head?.idleMs)
      else connection.destroy()
    }

    function lose() {
      end()
      reject(new LostConnection())
    }

    function giveUp(failure: CallFailure) {
      end()
      reject(failure)
    }

    function fail(failure: CallFailure) {
      if (isOver) return
      if (!head || !dial.headIsEnough) return giveUp(failure)
      end()
      const { status, headers } = head
      resolve({ status, headers, ...reader.incomplete(bodyIssue(failure)) })
    }

    function onClosed(error: Error | undefined) {
      if (isOver) return
      if (isReused && !reader.hasBegun()) return lose()
      const phase = call.phase()
      fail(error ? asCallFailure(error, phase, dial.peer) : brokenOff(phase))
    }

    function read(take: () => void) {
      if (isOver) return
      try {
        take()
      } catch (error) {
        if (error instanceof CallFailure) return fail(error)
        end()
        reject(error)
      }
    }

    connection.listen({
      data: (bytes) => read(() => reader.take(bytes)),
      ended: () => {
        reader.end()
        afterWhatHasArrived(() => onClosed(undefined))
      },
      closed: (error) => afterWhatHasArrived(() => onClosed(error)),
    })
    call.enter('wait')
    let isSent = false
    call.onCut((failure) => {
      if (dial.headIsEnough && isSent && !head) afterOneMoreRead(() => fail(failure))
      else fail(failure)
    })
    if (isOver) return
    isSent = true
    connection.write(request)
  })
}

const NOBODY = { data() {}, ended() {}, closed() {} }

const isRedirect = ({ status }: ResponseHead) => status >= 300 && status < 400

const redirected = () => new CallFailure('redirect', 'redirects are not followed')
