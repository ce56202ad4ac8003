import { expect, test } from 'bun:test'
import { titleOf } from '../../../src/platform/alerts/index.ts'
import { expectDescribedType } from '../../engines/relay/support.ts'
import { bootMetered, ENDPOINTS, MESSAGES, NEXT_MONTH, type Tenant, useMetered } from './fixture.ts'

const DAY = 86_400_000

const fixture = await useMetered({ free: 10, cents: 1, cap: 4 })
const { db, newTenant } = fixture

const audited = ({ id }: Tenant, client = db.client) =>
  client
    .query<{ detail: string; actor_kind: string }, [string]>(
      "SELECT detail, actor_kind FROM audit_log WHERE action = 'usage.threshold' AND tenant_id = ? ORDER BY seq",
    )
    .all(id)
    .map(({ detail, actor_kind }) => ({ ...JSON.parse(detail), by: actor_kind }))

/** Reads and stores what that counts, each time. */
async function readEach({ read, usage }: Tenant, times: number) {
  for (let n = 0; n < times; n++) {
    await read()
    await usage()
  }
}

const messagesOf = async ({ relay, usage }: Tenant) => {
  await usage()
  return (await relay.get(MESSAGES)).body.data
}

test('A tenant is notified at 50, 80 and 100 % of its allowance, once each, by the audit log and an event', async () => {
  const tenant = await newTenant('free')
  await readEach(tenant, 4)
  expect(audited(tenant)).toEqual([])
  await readEach(tenant, 8)
  const steps = [50, 80, 100].map((percent) => ({
    percent,
    month: '2026-03',
    measure: 'allowance',
  }))
  const audit = steps.map((step) => ({ ...step, used: step.percent / 10, limit: 10, by: 'system' }))
  expect(audited(tenant)).toEqual(audit)
  const payloads = []
  for (const { id } of (await messagesOf(tenant)).toReversed())
    payloads.push((await tenant.relay.get(`${MESSAGES}/${id}`)).body.payload)
  for (const payload of payloads) expectDescribedType('usage.threshold', payload)
  const event = { limit_requests: 10, cost_cents: 0, resets_at: '2026-04-01T00:00:00.000Z' }
  expect(payloads).toEqual(
    steps.map((step) => ({ ...step, used_requests: step.percent / 10, ...event })),
  )
  expect((await tenant.usage()).notified).toEqual({ allowance: 100, spend_cap: 0 })
})

test('A tenant is notified again in the next month', async () => {
  await using own = await bootMetered({ free: 2 })
  const tenant = await own.newTenant('free')
  await readEach(tenant, 1)
  await own.clock.advanceTo(NEXT_MONTH)
  await readEach(tenant, 1)
  const months = audited(tenant, own.db.client).map(({ month, percent }) => [month, percent])
  expect(months).toEqual([
    ['2026-03', 50],
    ['2026-04', 50],
  ])
  // Of nothing on an unlimited plan, and by no event if half of it cannot be stored.
  const unlimited = await own.newTenant('unlimited')
  await readEach(unlimited, 3)
  expect(audited(unlimited, own.db.client)).toEqual([])
  own.db.client.run(`CREATE TRIGGER full BEFORE INSERT ON relay_event_types
      BEGIN SELECT raise(abort, 'no'); END`)
  const unlucky = await own.newTenant('free')
  await readEach(unlucky, 1)
  expect(await messagesOf(unlucky)).toEqual([])
})

test('A tenant is notified of its spend cap, and again on the way to a higher one', async () => {
  const tenant = await newTenant('metered')
  await readEach(tenant, 14)
  await tenant.change({ spendCapCents: 10 })
  await readEach(tenant, 4)
  const ofCap = audited(tenant).filter(({ measure }) => measure === 'spend_cap')
  expect(ofCap.map(({ percent, used, limit }) => [percent, used, limit])).toEqual([
    [50, 2, 4],
    [100, 4, 4],
    [80, 8, 10],
  ])
})

test('A tenant is notified of the highest share passed at once, at endpoints that ask for it by name', async () => {
  const tenant = await newTenant('free')
  const listen = async (event_types: string[] | null) =>
    (await tenant.relay.post(ENDPOINTS, { url: 'http://127.0.0.1:9/hook', event_types })).body.id
  // These may be endpoints of customers.
  for (const types of [null, ['*']]) await listen(types)
  const named = await listen(['usage.*'])
  await tenant.read(7)
  await tenant.usage()
  const [message] = await messagesOf(tenant)
  const { body } = await tenant.relay.get(`${MESSAGES}/${message.id}/deliveries`)
  expect(body.data).toMatchObject([{ endpoint_id: named }])
  for (const plan of ['unlimited', 'metered'] as const) {
    await tenant.change({ plan })
    await readEach(tenant, 1)
  }
  expect(audited(tenant)).toMatchObject([{ measure: 'allowance', percent: 100 }])
  expect((await tenant.usage()).notified.allowance).toBe(100)
})

test.each([
  ['free', '80% of the monthly allowance used, critical 100% of the monthly allowance used'],
  [
    'metered',
    '80% of the monthly allowance used, 100% of the monthly allowance used, critical Spend cap reached',
  ],
  ['unlimited', ''],
] as const)(
  'On plan %s, alerts open from 80 %% of a limit on, and close a day later',
  async (plan, expected) => {
    const tenant = await newTenant(plan)
    await readEach(tenant, 18)
    const { alerts } = fixture.platform
    const open = () => alerts.page(tenant.id, 'open', { limit: 9 }).toReversed()
    const shown = open().map((of) =>
      of.severity === 'critical' ? `critical ${titleOf(of)}` : titleOf(of),
    )
    expect(shown.join(', ')).toBe(expected)
    expect(open().filter(({ count, closesAfterMs }) => count > 1 || closesAfterMs !== DAY)).toEqual(
      [],
    )
  },
)
