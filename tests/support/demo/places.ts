import type { Chance } from './chance.ts'
import type { Place } from './internet.ts'

const MINUTE = 60_000

/** The hosts that the shop's jobs and events go to, and how each did on the day up to `now`. */
export function placesOfTheShop(now: number, chance: Chance): Record<string, Place> {
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
