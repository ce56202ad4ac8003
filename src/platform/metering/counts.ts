import type { Engine, Environment } from '../engines.ts'
import type { Terms } from './allowance.ts'
import { monthOf } from './months.ts'

/** The keys by which requests are counted: tenant, day, engine and environment. */
export interface CountKey {
  tenantId: string
  day: string
  engine: Engine
  environment: Environment
}

/** A number of requests that were made under the same terms. */
export type Count = CountKey & { terms: Terms; requests: number }

interface AccountCounts {
  /** Requests counted by this process and not yet in the database. */
  unflushed: number
  /** Requests in progress for which quota is reserved. */
  reserved: number
}

export type Counts = ReturnType<typeof createCounts>

/** This process's counts that aren't stored yet, one entry for each combination of keys. */
export function createCounts() {
  const accounts = new Map<string, AccountCounts>()
  const pending = new Map<string, Count>()

  const nameOf = (tenantId: string, day: string) => `${tenantId} ${monthOf(day)}`

  function change(tenantId: string, day: string, what: keyof AccountCounts, by: number) {
    const name = nameOf(tenantId, day)
    const unstored = accounts.get(name) ?? { unflushed: 0, reserved: 0 }
    unstored[what] += by
    if (unstored.unflushed === 0 && unstored.reserved === 0) accounts.delete(name)
    else accounts.set(name, unstored)
  }

  function add(count: Count) {
    put(count)
    change(count.tenantId, count.day, 'unflushed', count.requests)
  }

  /** Terms are part of the key: requests free on arrival stay free if the plan changes. */
  function put({ tenantId, day, engine, environment, terms, requests }: Count) {
    const { plan, spendCapCents } = terms
    const name = `${tenantId} ${day} ${engine} ${environment} ${plan} ${spendCapCents}`
    const known = pending.get(name)
    if (known) known.requests += requests
    else pending.set(name, { tenantId, day, engine, environment, terms, requests })
  }

  /** The caller then calls `settled` or `putBack`. */
  function take(most: number): Count[] {
    const batch: Count[] = []
    for (const [name, count] of pending) {
      if (batch.length === most) break
      pending.delete(name)
      if (count.requests !== 0) batch.push(count)
    }
    return batch
  }

  /** Marks counts as stored. */
  function settled(batch: readonly Count[]) {
    for (const { tenantId, day, requests } of batch) change(tenantId, day, 'unflushed', -requests)
  }

  /** For counts that couldn't be stored; `wasSettled` if `settled` was already called for them. */
  function putBack(batch: readonly Count[], wasSettled: boolean) {
    for (const count of batch) {
      put(count)
      if (wasSettled) change(count.tenantId, count.day, 'unflushed', count.requests)
    }
  }

  const unstored = (tenantId: string, day: string) => accounts.get(nameOf(tenantId, day))

  return {
    add,
    take,
    settled,
    putBack,
    reserve: (tenantId: string, day: string) => change(tenantId, day, 'reserved', 1),
    release: (tenantId: string, day: string) => change(tenantId, day, 'reserved', -1),
    unflushed: (tenantId: string, day: string) => unstored(tenantId, day)?.unflushed ?? 0,
    reserved: (tenantId: string, day: string) => unstored(tenantId, day)?.reserved ?? 0,
    /** Requests that other processes don't see in the database: unflushed and reserved ones. */
    held: (tenantId: string, day: string): number => {
      const { unflushed = 0, reserved = 0 } = unstored(tenantId, day) ?? {}
      return unflushed + reserved
    },
    /** The number of requests that aren't stored. */
    size: () => [...pending.values()].reduce((sum, { requests }) => sum + requests, 0),
  }
}
