/** A due loop to wake. */
interface Loop {
  nudge(): void
  expect(at: number): void
}

/** Wakes both queues after the commit that creates work. */
export interface Wake {
  /** Some deliveries are ready. */
  ready(): void
  /** A delivery comes due at `at`. */
  waiting(at: number): void
}

/**
 * `loops` is a function because the loops are created later, from parts that wake them. However
 * much work a commit creates, each loop is woken once, by the microtask that follows.
 */
export function createWake(loops: () => Loop[]): Wake {
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

  function schedule() {
    if (!isScheduled) queueMicrotask(tell)
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
