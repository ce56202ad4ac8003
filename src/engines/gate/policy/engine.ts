import { type Cedar, startCedar } from './cedar.ts'

/** Cedar gave up half-way: what it was given is too much for it. */
export class EngineFailure extends Error {
  override name = 'EngineFailure'
}

export type Engine = ReturnType<typeof createEngine>

/**
 * Cedar, started when it is first needed. An instance that has panicked, or run out of stack,
 * may be left in any state, and one whose memory has grown past `mostMemory` keeps that for
 * ever: either is thrown away, with all it kept, and the next piece of work gets a fresh one.
 */
export function createEngine({ mostMemory }: { mostMemory: number }) {
  let cedar: Cedar | undefined
  let generation = 0

  /** `work` does nothing but call Cedar: whatever it throws counts as a failure of that. */
  function run<T>(work: (cedar: Cedar) => T): T {
    cedar ??= startCedar()
    try {
      const result = work(cedar)
      if (cedar.memory() > mostMemory) replace()
      return result
    } catch (cause) {
      replace()
      throw new EngineFailure('the policy engine gave up', { cause })
    }
  }

  function replace() {
    cedar = undefined
    generation++
  }

  return {
    run,
    isStarted: () => cedar !== undefined,
    /** Goes up whenever all that was kept is lost. */
    generation: () => generation,
  }
}
