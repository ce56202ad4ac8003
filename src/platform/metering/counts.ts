import type { Engine, Environment } from '../engines.ts'
import type { Terms } from './allowance.ts'
import { monthOf } from './months.ts'

/** Of whom, when and where: what requests are told apart by. */
export interface Place {
  tenantId: string
  day: string
  engine: Engine
  environment: Environment
}

/** Some requests to a place, while its tenant had these terms. */
export type Count = Place & { terms: Terms; requests: number }

interface Standing {
  /** Counted here, and not yet in the database. */
  unflushed: number
  /** Requests under way that have been promised a place. */
  reserved: number
}

export type Counts = ReturnType<typeof createCounts>

/** What this process has counted and not yet stored. In memory, and small: one entry a place. */
export function createCounts() {
  const standings = new Map<string, Standing>()
  const pending = new Map<string, Count>()

  const nameOf = (tenantId: string, day: string) => `${tenantId} ${monthOf(day)}`

  function change(tenantId: string, day: string, what: keyof Standing, by: number) {
    const name = nameOf(tenantId, day)
    const standing = standings.get(name) ?? { unflushed: 0, reserved: 0 }
    standing[what] += by
    if (standing.unflushed === 0 && standing.reserved === 0) standings.delete(name)
    else standings.set(name, standing)
  }

  function add(count: Count) {
    put(count)
    change(count.tenantId, count.day, 'unflushed', count.requests)
  }

  /** What was free when it came must not cost by the plan of a moment later: terms tell apart, too. */
  function put({ tenantId, day, engine, environment, terms, requests }: Count) {
    const { plan, spendCapCents } = terms
    const name = `${tenantId} ${day} ${engine} ${environment} ${plan} ${spendCapCents}`
    const known = pending.get(name)
    if (known) known.requests += requests
    else pending.set(name, { tenantId, day, engine, environment, terms, requests })
  }

  /** Up to `most` of what waits, for whoever stores it: `settled` or `putBack` follows. */
  function take(most: number): Count[] {
    const batch: Count[] = []
    for (const [name, count] of pending) {
      if (batch.length === most) break
      pending.delete(name)
      if (count.requests !== 0) batch.push(count)
    }
    return batch
  }

  /** The database knows of these. */
  function settled(batch: readonly Count[]) {
    for (const { tenantId, day, requests } of batch) change(tenantId, day, 'unflushed', -requests)
  }

  /** They could not be stored after all; `wasSettled` where that came out behind `settled`. */
  function putBack(batch: readonly Count[], wasSettled: boolean) {
    for (const count of batch) {
      put(count)
      if (wasSettled) change(count.tenantId, count.day, 'unflushed', count.requests)
    }
  }

  const standing = (tenantId: string, day: string) => standings.get(nameOf(tenantId, day))

  return {
    add,
    take,
    settled,
    putBack,
    reserve: (tenantId: string, day: string) => change(tenantId, day, 'reserved', 1),
    release: (tenantId: string, day: string) => change(tenantId, day, 'reserved', -1),
    unflushed: (tenantId: string, day: string) => standing(tenantId, day)?.unflushed ?? 0,
    reserved: (tenantId: string, day: string) => standing(tenantId, day)?.reserved ?? 0,
    /** Of both: what the database, and so every other process, knows nothing of. */
    held: (tenantId: string, day: string): number => {
      const { unflushed = 0, reserved = 0 } = standing(tenantId, day) ?? {}
      return unflushed + reserved
    },
    /** Requests that are not stored. */
    size: () => [...pending.values()].reduce((sum, { requests }) => sum + requests, 0),
  }
}
