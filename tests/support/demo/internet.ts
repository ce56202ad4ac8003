import {
  createOutbound,
  type Outbound,
  type OutboundRequest,
} from '../../../src/platform/outbound/index.ts'
import type { TestClock } from '../clock.ts'
import type { Chance } from './chance.ts'

/** What a host answers to a call, and how long it takes; `silent` for no answer. */
type Reply = { status: number; body: string; ms: number } | { silent: true }
type Host = (request: { path: string; at: number }) => Reply

const MINUTE = 60_000
const MAX_MS = 15_000

/** The hosts that the shop's jobs and events go to, and how each did on the day up to `now`. */
function hostsOf(now: number, chance: Chance): Record<string, Host> {
  /** Within the last so many minutes, down to so many. */
  const isWithin = (at: number, from: number, to = 0) =>
    at >= now - from * MINUTE && at < now - to * MINUTE
  const json = (status: number, value: unknown, usual: number) => ({
    status,
    body: JSON.stringify(value),
    ms: chance.around(usual),
  })
  return {
    'api.harbourbooks.example': ({ path, at }) => {
      if (path === '/jobs/stock' && isWithin(at, 220, 165))
        return json(503, { error: 'warehouse is being migrated', retry_after: 600 }, 240)
      if (path === '/jobs/report') return json(200, { rows: 41_280, file: 'sales.parquet' }, 6400)
      return json(200, { ok: true, changed: chance.between(0, 90) }, 320)
    },
    'feeds.penguin.example': ({ at }) =>
      isWithin(at, 135)
        ? json(401, { error: 'token expired', expired_at: '2026-11-19T12:00:00Z' }, 90)
        : json(200, { titles: chance.between(2, 60) }, 900),
    'rates.example': () => json(200, { base: 'EUR', usd: 1.0842 }, 120),
    'hooks.harbourbooks.example': () =>
      chance.happens(0.015) ? json(500, { error: 'try again' }, 60) : json(202, { ok: true }, 38),
    'hooks.slack.com': () => json(200, 'ok', 140),
    'warehouse.example': () => json(200, { accepted: true }, 210),
    'crm.example': ({ at }) => {
      if (isWithin(at, 96)) return json(503, { error: 'maintenance', until: 'later today' }, 150)
      return chance.happens(0.03)
        ? { silent: true }
        : json(200, { id: chance.between(1e5, 9e5) }, 95)
    },
    'mail.example': () => json(200, { queued: true }, 75),
  }
}

/** Takes the place of the network: hosts answer as told, and the clock goes on by as much as that takes. */
export const createInternet =
  (now: number, chance: Chance) =>
  (clock: TestClock): Outbound => {
    const hosts = hostsOf(now, chance)
    const { checkUrl } = createOutbound({ clock, timeoutMs: 1, maxResponseBytes: 1 })
    const endAt = createEnds(clock)

    async function send(request: OutboundRequest): ReturnType<Outbound['send']> {
      const { url } = checkUrl(request.url)
      const { hostname, pathname: path } = url
      const reply = hosts[hostname]?.({ path, at: clock.now() }) ?? { silent: true }
      const address = addressOf(hostname)
      const way = { dns: chance.between(0, 4), connect: chance.around(11), tls: chance.around(19) }
      const onTheWay = way.dns + way.connect + way.tls
      if ('silent' in reply) {
        await endAt(clock.monotonic() + MAX_MS)
        const message = 'no complete response within 15 s (while waiting for the response)'
        const timings = { ...way, wait: MAX_MS - onTheWay, read: 0 }
        return { replied: false, reason: 'timeout', message, address, timings }
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
    return {
      checkUrl,
      send,
      connections: () => ({ opened: 0, resumed: 0, reused: 0, lost: 0, idle: 0 }),
      end: () => {},
    }
  }

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
