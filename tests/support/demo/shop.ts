import type { TestApp } from '../app.ts'
import { newOperator } from '../operator.ts'
import { addBotSignIns } from './bot.ts'
import type { Chance } from './chance.ts'
import { addRegulars } from './customers.ts'
import { createDay } from './day.ts'
import { addEarlierUsage } from './earlier.ts'
import { openPremises } from './premises.ts'
import { addEndpoints, addJobs, addSettings } from './set-up.ts'

const HOUR = 3_600_000
export const WEEK = 7 * 24 * HOUR

export type Shop = Awaited<ReturnType<typeof openShop>>

/** What the shop has set up, and its day. */
export async function openShop(of: { app: TestApp; chance: Chance; now: number; hours: number }) {
  const { app, chance, now } = of
  const { db, clock, platform } = app
  const premises = await openPremises(app)
  const { tenantId, api } = premises
  const cafe = await app.tenant('Lighthouse Café', 'metered')
  await platform.tenants.create(
    { kind: 'cli', source: 'demo' },
    { name: 'Tide Tables', plan: 'free' },
  )
  const owner = await person('Ada Berg', 'ada@harbourbooks.example', {
    isAdmin: true,
    roles: { [tenantId]: 'owner', [cafe.id]: 'owner' },
  })
  await person('Ben Okafor', 'ben@harbourbooks.example', { roles: { [tenantId]: 'member' } })
  await person('Chiara Rossi', 'chiara@harbourbooks.example', { roles: { [tenantId]: 'viewer' } })
  const endpoints = await addEndpoints(premises)
  const people = await addRegulars(premises, chance)
  const { liveUntil } = createDay(premises, chance, people)
  await addSettings(premises)
  const yesterday = now - of.hours * HOUR
  if (clock.now() < yesterday) {
    await liveUntil(now - WEEK + HOUR)
    clock.jump(yesterday - clock.now())
  }
  const jobs = await addJobs(await signInOwner(), now)
  await liveUntil(now)
  await addBotSignIns({ app, chance, tenantId, now })
  addEarlierUsage({ db, chance, tenantId, now })
  // The session of the morning has ended since.
  const session = await signInOwner()
  await app.raw('/console/team/invite', {
    method: 'POST',
    headers: session.headers,
    body: new URLSearchParams({ email: 'dmitri@harbourbooks.example', role: 'member' }),
  })
  return {
    session,
    jobs,
    endpoints,
    people,
    /** The id of one that goes on failing. */
    failedDelivery: (): string =>
      db.client
        .query<{ id: string }, []>(
          `SELECT d.id FROM deliveries d JOIN attempts a ON a.delivery_seq = d.seq
           WHERE a.status = 'failed' GROUP BY d.seq ORDER BY count(*) DESC LIMIT 1`,
        )
        .get()?.id ?? '',
    /** Where a customer would sign in. */
    signInPage: async (): Promise<string> =>
      (await api.gate.get('/v1/gate/auth/login')).body.hosted_url,
  }

  async function signInOwner() {
    const session = await owner.signIn()
    await session.actIn(tenantId)
    return session
  }

  async function person(name: string, email: string, rights: Parameters<typeof newOperator>[1]) {
    const operator = await newOperator(app, { ...rights, email })
    db.client
      .query(
        `UPDATE gate_identities SET traits = json_set(traits, '$.display_name', ?) WHERE id = ?`,
      )
      .run(name, operator.id)
    return operator
  }
}
