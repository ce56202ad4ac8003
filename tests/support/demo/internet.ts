import {
  createOutbound,
  type Outbound,
  type OutboundRequest,
} from '../../../src/platform/outbound/index.ts'
import type { TestClock } from '../clock.ts'
import type { Chance } from './chance.ts'

/** What a place answers to a call, and how long it takes; `silent` where nothing comes. */
export type Reply = { status: number; body: string; ms: number } | { silent: true }

export type Place = (request: OutboundRequest & { path: string; at: number }) => Reply

const MAX_MS = 15_000

/**
 * The targets of a shop that there is not, by their host names: they answer as told, and the clock
 * goes on by as much as that takes. Nothing leaves the machine.
 */
export const createInternet =
  (places: Readonly<Record<string, Place>>, chance: Chance) =>
  (clock: TestClock): Outbound => {
    const { checkUrl } = createOutbound({ clock, timeoutMs: 1, maxResponseBytes: 1 })

    const endAt = createEnds(clock)

    async function send(request: OutboundRequest): ReturnType<Outbound['send']> {
      const { url } = checkUrl(request.url)
      const place = places[url.hostname]
      const reply = place?.({ ...request, path: url.pathname, at: clock.now() }) ?? SILENCE
      const address = addressOf(url.hostname)
      const way = { dns: chance.between(0, 4), connect: chance.around(11), tls: chance.around(19) }
      const onTheWay = way.dns + way.connect + way.tls
      if ('silent' in reply) {
        await endAt(clock.monotonic() + MAX_MS)
        const timings = { ...way, wait: MAX_MS - onTheWay, read: 0 }
        return { ...UNANSWERED, address, timings }
      }
      const timings = { ...way, wait: reply.ms, read: chance.between(1, 6) }
      await endAt(clock.monotonic() + onTheWay + timings.wait + timings.read)
      return {
        replied: true,
        status: reply.status,
        headers: [
          ['content-type', 'application/json'],
          ['server', 'nginx'],
          ['content-length', `${reply.body.length}`],
        ],
        body: Buffer.from(reply.body),
        truncated: false,
        bodyIssue: null,
        address,
        timings,
      }
    }

    return { checkUrl, send }
  }

const SILENCE: Reply = { silent: true }

const UNANSWERED = {
  replied: false,
  reason: 'timeout',
  message: 'no complete response within 15 s (while waiting for the response)',
} as const

/** Lets calls that run side by side end each at its time, which the clock goes on to. */
function createEnds(clock: TestClock) {
  const waiting: { at: number; end: () => void }[] = []

  function endNext() {
    waiting.sort((one, other) => one.at - other.at)
    const next = waiting.shift()
    if (!next) return
    clock.spend(next.at - clock.monotonic())
    next.end()
  }

  return (at: number) =>
    new Promise<void>((end) => {
      waiting.push({ at, end })
      setImmediate(endNext)
    })
}

/** Of a network for examples, and the same for a name each time. */
const addressOf = (name: string): string =>
  `198.51.100.${[...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 250, 7) + 2}`
