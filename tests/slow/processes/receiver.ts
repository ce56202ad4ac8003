import { type ReceivedRequest, startTarget } from '../../support/target.ts'
import { eventId, numbers } from '../resilience/support/api.ts'

/** True for errors of `fetch` when the connection breaks. */
export const isBroken = (error: unknown) => error instanceof Error && 'code' in error

/** Accepts events, but refuses every 20th when it comes for the first time. */
export function startReceiver(numberIn: (request: ReceivedRequest) => number) {
  const arrivals = new Map<string, number>()
  const refused = new Set<string>()
  const target = startTarget((request) => {
    const id = eventId(request)
    if (numberIn(request) % 20 === 0 && !refused.has(id)) {
      refused.add(id)
      return new Response('not now', { status: 503 })
    }
    arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
    return new Response('ok')
  })
  return { target, arrivals, refused, [Symbol.asyncDispose]: () => target.stop() }
}

/** Runs `send` for each number below `count`, 16 at a time, again while connections break. */
export function startProducers(count: number, send: (n: number) => Promise<void>) {
  const rest = numbers(count).values()
  let ended = 0
  let cutOff = 0

  async function produce() {
    for (const n of rest) {
      while (!(await isSent(n))) await Bun.sleep(10)
      ended++
    }
  }

  async function isSent(n: number): Promise<boolean> {
    try {
      await send(n)
      return true
    } catch (error) {
      if (!isBroken(error)) throw error
      cutOff++
      return false
    }
  }

  const done = Promise.all(numbers(16).map(produce))
  return { done, ended: () => ended, cutOff: () => cutOff }
}
