import { describe, expect, test } from 'bun:test'
import { createAllowance, type Limits } from '../../../src/platform/metering/allowance.ts'
import { dayOf, endOfMonth, startOfMonth } from '../../../src/platform/metering/months.ts'
import { testConfig } from '../../support/config.ts'

const PRICES = {
  ...testConfig().metering,
  freeRequests: 3000,
  overagePriceCents: 300,
  overagePer: 10_000,
  defaultSpendCapCents: 5000,
}
const NOTHING = { requests: 0, billed: 0 }

describe('limits', () => {
  const { limitsOf } = createAllowance(PRICES)

  test('of a free plan are its allowance', () => {
    const limits = { included: 3000, payable: 0, spendCapCents: null }
    expect(limitsOf({ plan: 'free', spendCapCents: null })).toEqual(limits)
    expect(limitsOf({ plan: 'free', spendCapCents: 100 })).toEqual(limits)
  })

  test('of a metered plan are as many requests as its cap pays for, or the default one', () => {
    const spending = (spendCapCents: number | null) => limitsOf({ plan: 'metered', spendCapCents })
    expect(spending(null)).toEqual({ included: 3000, payable: 166_666, spendCapCents: 5000 })
    expect(spending(300)).toEqual({ included: 3000, payable: 10_000, spendCapCents: 300 })
    expect(spending(1)).toMatchObject({ payable: 33 })
    expect(spending(0)).toMatchObject({ payable: 0 })
  })

  test('of what costs nothing have no end', () => {
    const { limitsOf } = createAllowance({ ...PRICES, overagePriceCents: 0 })
    const { payable } = limitsOf({ plan: 'metered', spendCapCents: 0 })
    expect(payable).toBe(Number.POSITIVE_INFINITY)
    const unlimited = limitsOf({ plan: 'unlimited', spendCapCents: 0 })
    expect(unlimited.included).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('money', () => {
  const { costOf } = createAllowance(PRICES)

  test('is pro rata, in whole cents, and a cent that is only begun is not charged', () => {
    const cents = (billed: number) => costOf({ requests: billed + 3000, billed })
    expect([0, 1, 33, 34, 66, 67, 10_000, 10_001].map(cents)).toEqual([0, 0, 0, 1, 1, 2, 300, 300])
  })

  test('stays exact where a double would not', () => {
    const { costOf } = createAllowance({ ...PRICES, overagePriceCents: 999_999_999, overagePer: 7 })
    const billed = 999_999_999_999
    const exact = (BigInt(billed) * 999_999_999n) / 7n
    expect(BigInt(costOf({ requests: billed, billed }))).toBe(BigInt(Number(exact)))
  })

  test('of all requests that a cap lets in is never above it, and one more is', () => {
    for (const [price, per, cap] of [
      [300, 10_000, 5000],
      [7, 3, 100],
      [1, 1_000_000_000, 1],
      [1_000_000_000, 1, 2_500_000_000],
    ] as const) {
      const allowance = createAllowance({ ...PRICES, overagePriceCents: price, overagePer: per })
      const { payable } = allowance.limitsOf({ plan: 'metered', spendCapCents: cap })
      expect(BigInt(payable) * BigInt(price) <= BigInt(cap) * BigInt(per)).toBe(true)
      expect((BigInt(payable) + 1n) * BigInt(price) > BigInt(cap) * BigInt(per)).toBe(true)
    }
  })
})

describe('a month', () => {
  const { after, left } = createAllowance(PRICES)
  const limits: Limits = { included: 10, payable: 5, spendCapCents: 1 }

  test('uses what is free before what costs, and bills nothing past the cap', () => {
    expect(after(NOTHING, 10, limits)).toEqual({ requests: 10, billed: 0 })
    expect(after(NOTHING, 12, limits)).toEqual({ requests: 12, billed: 2 })
    expect(after({ requests: 12, billed: 2 }, 100, limits)).toEqual({ requests: 112, billed: 5 })
  })

  test('comes to the same in one step and in many', () => {
    let counted = NOTHING
    for (let n = 0; n < 20; n++) counted = after(counted, 1, limits)
    expect(counted).toEqual(after(NOTHING, 20, limits))
  })

  test('what is taken back is the last, so that none stays billed', () => {
    const taken = after({ requests: 11, billed: 1 }, -1, limits)
    expect(taken).toEqual({ requests: 10, billed: 0 })
    expect(after(taken, -1, limits)).toEqual({ requests: 9, billed: 0 })
  })

  test('has left what is free and what the cap pays for, never less than nothing', () => {
    expect(left(NOTHING, limits)).toBe(15)
    expect(left({ requests: 12, billed: 2 }, limits)).toBe(3)
    expect(left({ requests: 100, billed: 5 }, limits)).toBe(0)
    expect(left({ requests: 100, billed: 9 }, limits)).toBe(0)
  })

  test('begins and ends at midnight of UTC', () => {
    expect(dayOf(Date.parse('2026-01-31T23:59:59.999Z'))).toBe('2026-01-31')
    expect(dayOf(Date.parse('2026-02-01T00:00:00.000Z'))).toBe('2026-02-01')
    expect(endOfMonth('2026-12')).toBe(Date.parse('2027-01-01T00:00:00.000Z'))
    expect(endOfMonth('2028-02')).toBe(Date.parse('2028-03-01T00:00:00.000Z'))
    expect(startOfMonth('2026-02')).toBe(Date.parse('2026-02-01T00:00:00.000Z'))
  })
})
