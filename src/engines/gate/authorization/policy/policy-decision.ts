/** The answer to a question. */
export interface PolicyDecision {
  allowed: boolean
  /** Names of the deciding policies, sorted. */
  policies: string[]
  /** A sentence for humans. */
  reason: string
}

/** The result of evaluating policies. */
export interface Outcome {
  permits: readonly string[]
  forbids: readonly string[]
  /** Policies that failed to evaluate. */
  failures: readonly { policy: string; message: string }[]
}

/** Forbidding overrides permitting. A failed policy might have forbidden, so it refuses too. */
export function conclude({ permits, forbids, failures }: Outcome): PolicyDecision {
  if (forbids.length > 0) return refused(forbids, `forbidden by ${list(forbids)}`)
  const [failure] = failures.toSorted(byPolicy)
  if (failure !== undefined) {
    return refused(
      failures.map(({ policy }) => policy),
      `${list([failure.policy])} failed: ${shortened(failure.message)}${others(failures.length - 1)}; access is denied when a policy fails`,
    )
  }
  if (permits.length === 0) return refused([], 'no policy permits this')
  return { allowed: true, policies: permits.toSorted(), reason: `permitted by ${list(permits)}` }
}

const byPolicy = (one: { policy: string }, other: { policy: string }) =>
  one.policy < other.policy ? -1 : 1

/** The decision if the policies could not be evaluated at all. */
export const unanswerable = (problem: string): PolicyDecision =>
  refused([], `${shortened(problem)}; access is denied`)

const refused = (policies: readonly string[], reason: string): PolicyDecision => ({
  allowed: false,
  policies: policies.toSorted(),
  reason,
})

const NAMED = 3

function list(names: readonly string[]): string {
  const shown = names
    .toSorted()
    .slice(0, NAMED)
    .map((name) => `"${name}"`)
    .join(', ')
  const rest = names.length - NAMED
  return `${names.length === 1 ? 'policy' : 'policies'} ${shown}${rest > 0 ? ` and ${rest} more` : ''}`
}

const others = (count: number): string => (count > 0 ? `, and ${count} more failed` : '')

const MAX_MESSAGE_LENGTH = 200

/** Shortens an error message of the engine, which may quote long input. */
export const shortened = (message: string): string =>
  message.length > MAX_MESSAGE_LENGTH
    ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…`.toWellFormed()
    : message
