import { type ReceivedRequest, startTarget } from '../../support/target.ts'

export const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

export const idOf = ({ headers }: ReceivedRequest): string => headers.get('webhook-id') ?? ''

/** True for errors of `fetch` when the connection breaks. */
export const isBroken = (error: unknown) => error instanceof Error && 'code' in error

/** Accepts events, but refuses every 20th when it comes for the first time. */
export function startReceiver(numberIn: (request: ReceivedRequest) => number) {
  const arrivals = new Map<string, number>()
  const refused = new Set<string>()
  const target = startTarget((request) => {
    const id = idOf(request)
    if (numberIn(request) % 20 === 0 && !refused.has(id)) {
      refused.add(id)
      return new Response('not now', { status: 503 })
    }
    arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
    return new Response('ok')
  })
  return { target, arrivals, refused, [Symbol.asyncDispose]: () => target.stop() }
}

/** Runs `send` for each number below `count`, `producers` at a time, again while connections break. */
export function startProducers(
  { count, producers }: { count: number; producers: number },
  send: (n: number) => Promise<void>,
) {
  const rest = numbers(count).values()
  let ended = 0
  let cutOff = 0

  async function sendUntilAnswered(n: number) {
    for (;;) {
      try {
        return await send(n)
      } catch (error) {
        if (!isBroken(error)) throw error
        cutOff++
        await Bun.sleep(10)
      }
    }
  }

  async function produce() {
    for (const n of rest) {
      await sendUntilAnswered(n)
      ended++
    }
  }

  const done = Promise.all(numbers(producers).map(produce))
  return { done, ended: () => ended, cutOff: () => cutOff }
}
