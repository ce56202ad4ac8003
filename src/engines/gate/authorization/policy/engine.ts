import { type Cedar, startCedar } from './cedar.ts'

/** Cedar aborted because the input exceeds its limits. */
export class EngineFailure extends Error {
  override name = 'EngineFailure'
}

export type Engine = ReturnType<typeof createEngine>

/**
 * Cedar, started on first use. An instance that panicked or ran out of stack may be inconsistent,
 * and one past `mostMemory` never shrinks: both are discarded with their cached policies.
 */
export function createEngine({ mostMemory }: { mostMemory: number }) {
  let cedar: Cedar | undefined
  let generation = 0

  /** `work` only calls Cedar; anything it throws counts as a failure of the instance. */
  function run<T>(work: (cedar: Cedar) => T): T {
    cedar ??= startCedar()
    try {
      const result = work(cedar)
      if (cedar.memory() > mostMemory) replace()
      return result
    } catch (cause) {
      replace()
      throw new EngineFailure('the policy engine failed', { cause })
    }
  }

  function replace() {
    cedar = undefined
    generation++
  }

  return {
    run,
    isStarted: () => cedar !== undefined,
    /** Increases whenever the cached policies are lost. */
    generation: () => generation,
  }
}
