import { DatabaseLostError } from '../db/errors.ts'
import type { Db } from '../db/open.ts'
import { type Clock, sleep } from './clock.ts'
import type { Log } from './log.ts'

/** Deletes at most `limit` rows that are past their time and says how many it deleted. */
export interface RetentionRule {
  name: string
  deleteSlice: (now: number, limit: number) => number
}

/** Small enough that requests never wait for a clean-up. */
export const SLICE = 500
const BETWEEN_SWEEPS_MS = 60_000
const BETWEEN_SLICES_MS = 20

/** Every growing table has a rule; once a minute each deletes what is past its time. */
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
