import { serve } from '../../../src/http/serve.ts'
import { createLog } from '../../../src/platform/log.ts'
import { bootTestApp } from '../app.ts'
import type { TestClock } from '../clock.ts'
import { type Chance, createChance } from './chance.ts'
import { createInternet } from './internet.ts'
import { placesOfTheShop } from './places.ts'
import { OFFERED } from './set-up.ts'
import { openShop, type Shop, WEEK } from './shop.ts'

/** The afternoon on which everybody looks at it. */
const NOW = Date.parse('2026-11-19T14:37:20.000Z')
const HOUR = 3_600_000

const CHEAP_PASSWORDS = { 'gate-password-memory': '8MB', 'gate-password-iterations': '1' }

/** An account at each provider that the shop offers, which nobody gets to. */
const ACCOUNTS = Object.fromEntries(
  OFFERED.flatMap((name) =>
    ['CLIENT_ID', 'CLIENT_SECRET'].map((what) => [
      `GATEHOUSE_GATE_PROVIDERS_${name.toUpperCase()}_${what}`,
      'harbour-books',
    ]),
  ),
)

export type Demo = Awaited<ReturnType<typeof startDemo>>

interface Extent {
  /** How much has happened. */
  hours?: number
  /** The same day of the week before, for comparing: orders and sign-ins alone. */
  hasWeekBefore?: boolean
}

/**
 * An installation as one is after a while, behind a port: a bookshop with people, jobs, events and
 * sign-ins, of which most go well. The last hours have happened, with every call and retry, against
 * targets that there are not; then the clock stands still. The same day each time, but for ids. Ends
 * with the scope.
 */
export async function startDemo({ hours = 34, hasWeekBefore = true }: Extent = {}) {
  const chance = createChance()
  const app = await bootTestApp({
    start: new Date(NOW - (hasWeekBefore ? WEEK + 15 * HOUR : hours * HOUR)).toISOString(),
    outbound: createInternet(placesOfTheShop(NOW, chance), chance),
    jitter: 0.4,
    flags: CHEAP_PASSWORDS,
    env: ACCOUNTS,
  })
  // Nothing of it is to outlast a power cut, and to wait for the disk takes most of the time.
  app.db.client.run('PRAGMA synchronous = off')
  delayTimers(app.clock, chance)
  const shop: Shop = await openShop({ app, chance, now: NOW, hours })
  const silent = createLog({ level: 'error', format: 'text', now: () => 0, write: () => {} })
  const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, silent)
  return {
    ...shop,
    app,
    url: listener.url,
    now: NOW,
    [Symbol.asyncDispose]: async () => {
      await listener.stop()
      await app.stop()
    },
  }
}

/** On a machine that has something to do, nothing begins to the millisecond. */
function delayTimers(clock: TestClock, chance: Chance) {
  const { after } = clock
  clock.after = (ms, fn) => after(ms + chance.around(14), fn)
}
