import type { Clock } from '../../src/platform/clock.ts'

export interface TestClock extends Clock {
  /** Jumps to `ms` and fires what became due, in order, waiting for `settled` after each. */
  advanceTo(ms: number): Promise<void>
  advance(ms: number): Promise<void>
  /** Called after each timer, to let what it started come to rest. */
  settled: () => Promise<void>
  /** Lets time go by and fires nothing: within something that itself takes time. */
  spend(ms: number): void
  /** How many timers are set. */
  timers(): number
  /** Sets the wall clock alone, as an operator or NTP would. */
  jump(ms: number): void
}

/** A clock that stands still until it is turned. */
export function createTestClock(start: string): TestClock {
  const timers = new Map<number, { at: number; fn: () => void }>()
  let wall = Date.parse(start)
  let elapsed = 0
  let lastId = 0

  const nextTimer = (until: number) =>
    [...timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)[0]

  async function advance(ms: number) {
    const until = elapsed + ms
    for (let next = nextTimer(until); next; next = nextTimer(until)) {
      const [id, { at, fn }] = next
      timers.delete(id)
      pass(at - elapsed)
      fn()
      await clock.settled()
    }
    pass(until - elapsed)
  }

  function pass(ms: number) {
    const forward = Math.max(ms, 0)
    elapsed += forward
    wall += forward
  }

  const clock: TestClock = {
    now: () => wall,
    monotonic: () => elapsed,
    after: (ms, fn) => {
      const id = ++lastId
      timers.set(id, { at: elapsed + Math.max(ms, 0), fn })
      return () => void timers.delete(id)
    },
    advance,
    spend: pass,
    timers: () => timers.size,
    advanceTo: (ms) => advance(ms - wall),
    settled: () => new Promise((resolve) => setImmediate(resolve)),
    jump: (ms) => {
      wall += ms
    },
  }
  return clock
}
