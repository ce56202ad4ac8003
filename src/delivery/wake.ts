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

/** The loops are there only later: what they run needs to wake them. */
export function createWake(loops: () => Loop[]): Wake {
  const afterCommit = (tell: (loop: Loop) => void) =>
    queueMicrotask(() => {
      for (const loop of loops()) tell(loop)
    })

  return {
    ready: () => afterCommit((loop) => loop.nudge()),
    waiting: (at) => afterCommit((loop) => loop.expect(at)),
  }
}
