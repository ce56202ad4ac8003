import { createLanes } from '../db/lanes.ts'
import { addressKey } from '../platform/address-key.ts'

/** Milliseconds per turn of the event loop in which requests may start, unless stated otherwise. */
const TURN_MS = 5

/** Microtasks from a request's turn to the end of a handler that awaits nothing, with a margin. */
const HANDLER_MICROTASKS = 64

export type Turns = ReturnType<typeof createTurns>

/**
 * Lets requests take turns by lane, which is a tenant, an operator or a client address, so that
 * many or slow requests in one lane delay no other lane. A request starts immediately while its
 * turn of the event loop lasts. Later ones wait in their lanes, and the loop accepts new requests
 * in between. Waiting requests have already passed the rate limit of their client.
 *
 * With a `turnMs` of 0, one request starts per turn of the event loop.
 */
export function createTurns(turnMs = TURN_MS) {
  const queue = createLanes<() => void>()
  let turnEndsAt: number | undefined

  /** Resolves when it is the lane's turn. Undefined if the request may start without waiting. */
  function take(lane: string): Promise<void> | undefined {
    const now = performance.now()
    if (turnEndsAt === undefined) {
      turnEndsAt = now + turnMs
      setImmediate(next)
    }
    if (queue.size() === 0 && now < turnEndsAt) return undefined
    return new Promise((go) => queue.add(lane, go))
  }

  async function next() {
    const startedAt = performance.now()
    turnEndsAt = startedAt + turnMs
    let now = startedAt
    do {
      const go = queue.take()
      if (!go) break
      go()
      await handled()
      const endedAt = performance.now()
      queue.charge(endedAt - now)
      now = endedAt
    } while (now < turnEndsAt)
    if (queue.size() > 0) setImmediate(next)
    else turnEndsAt = undefined
  }

  return { take }
}

/** Operators have lanes of their own, so that a busy key of their tenant does not slow the console down. */
export const operatorLane = (operatorId: string | undefined): string => `operator ${operatorId}`

/** The lane of requests without a key or a session. */
export const addressLane = (address: string | undefined): string => `address ${addressKey(address)}`

/** Stays in the turn of the event loop, so that the commits of handlers stay in one group. */
async function handled() {
  for (let n = 0; n < HANDLER_MICROTASKS; n++) await null
}
