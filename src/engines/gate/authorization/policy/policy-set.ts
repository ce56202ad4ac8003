import { readingOf } from './dependencies.ts'
import type { Asked } from './entities.ts'
import type { Policy } from './parse.ts'
import type { Outcome } from './policy-decision.ts'
import { groupPolicies, type PolicyGroup } from './policy-groups.ts'
import { textsOf } from './policy-texts.ts'

/** The number of remembered outcomes and the longest text that identifies one, to limit memory. */
const MAX_OUTCOMES = 256
const MAX_READING = 256

export type PolicySet = ReturnType<typeof createPolicySet>

/** A tenant's policies in one version, with the outcomes of earlier questions. */
export function createPolicySet(tenantId: string, policies: readonly Policy[]) {
  const outcomes = new Map<string, Outcome>()

  /** Evaluates the group, unless it was evaluated for the same part of an earlier question. */
  function outcomeOf(group: PolicyGroup, call: Asked, evaluate: () => Outcome): Outcome {
    const reading = `${group.number} ${readingOf(group.dependencies, call)}`
    const known = outcomes.get(reading)
    if (known) return known
    const outcome = evaluate()
    if (isRepeatable(outcome) && reading.length <= MAX_READING) remember(reading, outcome)
    return outcome
  }

  function remember(reading: string, outcome: Outcome) {
    if (outcomes.size >= MAX_OUTCOMES) outcomes.clear()
    outcomes.set(reading, outcome)
  }

  return {
    tenantId,
    ...groupPolicies(policies),
    all: textsOf(policies.map(({ name, text }) => [name, text])),
    readsMetadata: policies.some(({ readsMetadata }) => readsMetadata),
    outcomeOf,
  }
}

/** Messages of failures can name entities that are not read. */
const isRepeatable = ({ failures }: Outcome) => failures.length === 0
