import type { Commit } from '../db/commit.ts'

/** A due loop to wake. */
interface Loop {
  nudge(): void
  expect(at: number): void
}

/** Wakes both queues in the commit that creates work. */
export interface Wake {
  /** Some deliveries are ready. */
  ready(): void
  /** A delivery comes due at `at`. */
  waiting(at: number): void
}

/**
 * `loops` is a function because the loops are created later, from parts that wake them. Loops are
 * woken by the last work of the same transaction, so that they can claim what it creates with the
 * same disk sync: each once, however much work there is.
 */
export function createWake(commit: Commit, loops: () => Loop[]): Wake {
  let isScheduled = false
  let isReady = false
  let first = Number.POSITIVE_INFINITY

  function tell() {
    const [ready, at] = [isReady, first]
    isScheduled = false
    isReady = false
    first = Number.POSITIVE_INFINITY
    for (const loop of loops()) {
      if (ready) loop.nudge()
      else loop.expect(at)
    }
  }

  /** If the commit fails, the loops still look for work that is stored. */
  function schedule() {
    if (!isScheduled) commit(tell).catch(tell)
    isScheduled = true
  }

  return {
    ready() {
      isReady = true
      schedule()
    },
    waiting(at) {
      first = Math.min(first, at)
      schedule()
    },
  }
}
