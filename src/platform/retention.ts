import { DatabaseLostError } from '../db/errors.ts'
import type { Db } from '../db/open.ts'
import { type Clock, sleep } from './clock.ts'
import { MINUTE_MS } from './durations.ts'
import type { Log } from './log.ts'

/** Deletes up to `limit` expired rows and returns their number. */
export interface RetentionRule {
  name: string
  deleteSlice: (now: number, limit: number) => number
}

/** The number of rows per commit, small enough that requests don't notice a clean-up. */
export const SLICE = 500
const BETWEEN_SWEEPS_MS = MINUTE_MS
const BETWEEN_SLICES_MS = 20

/** Deletes expired rows once a minute; every growing table has a rule. */
export function createRetention(parts: { db: Db; clock: Clock; log: Log }) {
  const { db, clock, log } = parts
  const rules: RetentionRule[] = []
  let stopped = false
  let cancel = () => {}

  const add = (...more: RetentionRule[]) => void rules.push(...more)

  async function sweep() {
    for (const rule of rules) await apply(rule)
  }

  async function apply({ name, deleteSlice }: RetentionRule) {
    try {
      while (!stopped) {
        const deleted = await db.commit(() => deleteSlice(clock.now(), SLICE))
        if (deleted < SLICE) return
        await sleep(clock, BETWEEN_SLICES_MS)
      }
    } catch (error) {
      if (error instanceof DatabaseLostError) return
      log.error('retention failed', { rule: name, error: String(error) })
    }
  }

  function start() {
    cancel = clock.after(BETWEEN_SWEEPS_MS, () => void sweep().then(() => stopped || start()))
  }

  function stop() {
    stopped = true
    cancel()
  }

  return { add, start, stop, sweep }
}
