/** What a line of deliveries is to hear of. */
interface Loop {
  nudge(): void
  expect(at: number): void
}

/** Tells both lines of work, once the commit that makes it is through. */
export interface Wake {
  /** Some stand in line. */
  ready(): void
  /** Something comes due at `at`. */
  waiting(at: number): void
}

/**
 * The loops are there only later: what they run needs to wake them. However much a commit makes,
 * they are told once, by the microtask that follows it.
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
