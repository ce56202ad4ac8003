import { serve } from '../../../src/http/serve.ts'
import { createLog } from '../../../src/platform/log.ts'
import { bootTestApp } from '../app.ts'
import { createChance } from './chance.ts'
import { createInternet } from './internet.ts'
import { OFFERED, openShop, WEEK } from './shop.ts'

/** The time at which the pictures are taken. */
const NOW = Date.parse('2026-11-19T14:37:20.000Z')
const HOUR = 3_600_000

const CHEAP_PASSWORDS = { 'gate-password-memory': '8MB', 'gate-password-iterations': '1' }

/** An account at each provider that the shop offers, which is never used. */
const ACCOUNTS = Object.fromEntries(
  OFFERED.flatMap((name) =>
    ['CLIENT_ID', 'CLIENT_SECRET'].map((field) => [
      `GATEHOUSE_GATE_PROVIDERS_${name.toUpperCase()}_${field}`,
      'harbour-books',
    ]),
  ),
)

export type Demo = Awaited<ReturnType<typeof startDemo>>

/**
 * An installation after a while, behind a port: a bookshop with people, jobs, events and sign-ins, of
 * which most go well. The last hours have happened, with every call and retry, against hosts that don't
 * exist; then the clock stands still. The same day each time, except for ids. `hasWeekBefore` adds the
 * same day a week earlier, to compare with.
 */
export async function startDemo({ hours = 34, hasWeekBefore = true } = {}) {
  const chance = createChance()
  const app = await bootTestApp({
    start: new Date(NOW - (hasWeekBefore ? WEEK + 15 * HOUR : hours * HOUR)).toISOString(),
    outbound: createInternet(NOW, chance),
    jitter: 0.4,
    flags: CHEAP_PASSWORDS,
    env: ACCOUNTS,
  })
  // Waiting for the disk takes most of the time.
  app.db.client.run('PRAGMA synchronous = off')
  const { after } = app.clock
  // On a busy machine, nothing begins to the millisecond.
  app.clock.after = (ms, fn) => after(ms + chance.around(14), fn)
  const shop = await openShop({ app, chance, now: NOW, hours })
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
