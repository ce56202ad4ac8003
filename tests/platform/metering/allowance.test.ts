import { expect, test } from 'bun:test'
import { createAllowance, NOTHING, type Terms } from '../../../src/platform/metering/allowance.ts'
import { dayOf, endOfMonth, startOfMonth } from '../../../src/platform/metering/months.ts'
import { testConfig } from '../../support/config.ts'

const PRICES = {
  ...testConfig().metering,
  ...{ freeRequests: 3000, overagePriceCents: 300, overagePer: 10_000, defaultSpendCapCents: 5000 },
}
const PLENTY: Terms = { plan: 'metered', spendCapCents: 1e15 }

/** No free requests, and a price in cents for a number of them. */
const at = (overagePriceCents: number, overagePer: number) =>
  createAllowance({ ...PRICES, freeRequests: 0, overagePriceCents, overagePer })

test('A plan limits requests to the allowance, and to what its cap or the default one pays for', () => {
  const { limitsOf } = createAllowance(PRICES)
  const limits = { included: 3000, payable: 0, spendCapCents: null }
  for (const spendCapCents of [null, 100])
    expect(limitsOf({ plan: 'free', spendCapCents }, NOTHING)).toEqual(limits)
  const spending = (spendCapCents: number | null) =>
    limitsOf({ plan: 'metered', spendCapCents }, NOTHING)
  expect(spending(null)).toEqual({ included: 3000, payable: 166_666, spendCapCents: 5000 })
  expect(spending(300)).toEqual({ included: 3000, payable: 10_000, spendCapCents: 300 })
  expect([spending(1).payable, spending(0).payable]).toEqual([33, 0])
  const unlimited = limitsOf({ plan: 'unlimited', spendCapCents: 0 }, NOTHING)
  const free = at(0, 1).limitsOf({ plan: 'metered', spendCapCents: 0 }, NOTHING)
  expect([unlimited.included, free.payable]).toEqual([Infinity, Infinity])
})

test('Money is pro rata, in whole cents, exact, and the same however many are counted at once', () => {
  const { after } = at(300, 10_000)
  const cents = (billed: number) => after(NOTHING, billed, PLENTY).costCents
  expect([0, 1, 33, 34, 66, 67, 10_000, 10_001].map(cents)).toEqual([0, 0, 0, 1, 1, 2, 300, 300])
  let counted = NOTHING
  for (const more of [1, 2, 30, 33, 7, 100, 9827]) counted = after(counted, more, PLENTY)
  expect(counted).toEqual(after(NOTHING, 10_000, PLENTY))
  expect(counted).toMatchObject({ billed: 10_000, costCents: 300, costRest: 0 })
  const billed = 9_999_999
  const terms: Terms = { plan: 'metered', spendCapCents: Number.MAX_SAFE_INTEGER }
  const { costCents, costRest } = at(999_999_999, 7).after(NOTHING, billed, terms)
  expect(BigInt(costCents) * 7n + BigInt(costRest)).toBe(BigInt(billed) * 999_999_999n)
})

test.each([
  [7, 3, 100],
  [1, 1_000_000_000, 1],
  [1_000_000_000, 1, 2_500_000_000],
])('%d cents for %d requests stay within a cap of %d cents', (price, per, cap) => {
  const { payable } = at(price, per).limitsOf({ plan: 'metered', spendCapCents: cap }, NOTHING)
  expect(BigInt(payable) * BigInt(price) <= BigInt(cap) * BigInt(per)).toBe(true)
  expect((BigInt(payable) + 1n) * BigInt(price) > BigInt(cap) * BigInt(per)).toBe(true)
})

test('A month uses the free requests first, bills nothing past the cap and takes back the last', () => {
  const config = { ...PRICES, freeRequests: 10, overagePriceCents: 1, overagePer: 5 }
  const { after, left } = createAllowance(config)
  const terms: Terms = { plan: 'metered', spendCapCents: 1 }
  expect(after(NOTHING, 10, terms)).toMatchObject({ requests: 10, billed: 0, costCents: 0 })
  const begun = after(NOTHING, 12, terms)
  expect(begun).toMatchObject({ requests: 12, billed: 2, costCents: 0, costRest: 2 })
  const spent = after(begun, 100, terms)
  expect(spent).toMatchObject({ requests: 112, billed: 5, costCents: 1 })
  // What was not billed stays so with a higher cap, or another plan.
  const higher = { ...terms, spendCapCents: 100 }
  expect(after(spent, 5, higher)).toMatchObject({ requests: 117, billed: 10, costCents: 2 })
  const free = after(NOTHING, 50, { plan: 'free', spendCapCents: null })
  expect(after(free, 5, terms)).toMatchObject({ requests: 55, billed: 5, costCents: 1 })
  const taken = after(after(NOTHING, 11, terms), -1, terms)
  expect(taken).toMatchObject({ requests: 10, billed: 0, costCents: 0, costRest: 0 })
  expect(after(taken, -1, terms)).toMatchObject({ requests: 9, billed: 0 })
  const having = (requests: number) => left(after(NOTHING, requests, terms), terms)
  expect([0, 12, 15, 100].map(having)).toEqual([15, 3, 0, 0])
  expect(left(after(NOTHING, 100, { ...terms, spendCapCents: 2 }), terms)).toBe(0)
})

test('A month begins and ends at midnight of UTC', () => {
  expect(dayOf(Date.parse('2026-01-31T23:59:59.999Z'))).toBe('2026-01-31')
  expect(dayOf(Date.parse('2026-02-01T00:00:00.000Z'))).toBe('2026-02-01')
  expect(endOfMonth('2026-12')).toBe(Date.parse('2027-01-01T00:00:00.000Z'))
  expect(endOfMonth('2028-02')).toBe(Date.parse('2028-03-01T00:00:00.000Z'))
  expect(startOfMonth('2026-02')).toBe(Date.parse('2026-02-01T00:00:00.000Z'))
})

test('A new price is for requests from then on, within what is left of the cap', () => {
  const terms: Terms = { plan: 'metered', spendCapCents: 200 }
  const [cheap, dear, free] = [at(100, 10), at(1000, 10), at(0, 10)]
  const before = cheap.after(NOTHING, 18, terms)
  expect(before).toMatchObject({ billed: 18, costCents: 180 })
  expect(dear.after(before, 0, terms)).toEqual(before)
  expect(free.after(before, 50, terms)).toMatchObject({ billed: 68, costCents: 180 })
  expect(cheap.after(before, 1, terms)).toMatchObject({ billed: 19, costCents: 190 })
  expect([cheap, dear, at(10, 10)].map(({ left }) => left(before, terms))).toEqual([2, 0, 20])
  expect(dear.after(before, 5, terms)).toMatchObject({ requests: 23, billed: 18, costCents: 180 })
  // Less than a part of a cent is lost, and nothing where the price is for the same number.
  const thirds = at(1, 3).after(NOTHING, 2, terms)
  expect(thirds).toMatchObject({ costCents: 0, costRest: 2, costPer: 3 })
  expect(at(2, 3).after(thirds, 2, terms)).toMatchObject({ costCents: 2, costRest: 0 })
  expect(at(1, 10).after(thirds, 4, terms)).toMatchObject({ costCents: 1, costRest: 0 })
})
