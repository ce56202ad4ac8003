import type { Metrics } from '../../platform/metrics/index.ts'
import { FlowFailure } from './sign-in/flows/failure.ts'
import type { Outcome } from './sign-in/flows/kinds/kind.ts'
import type { Submission } from './sign-in/flows/submission.ts'
import type { FlowKind } from './sign-in/model.ts'

/** Counts authorization decisions. */
export interface AuthorizationEvents {
  decided(isAllowed: boolean): void
}

export function createAuthorizationMetrics(metrics: Metrics): AuthorizationEvents {
  const decisions = metrics.counter('gate_decisions_total', 'Authorization decisions by answer.')
  const allowed = decisions.with({ answer: 'allowed' })
  const denied = decisions.with({ answer: 'denied' })
  return { decided: (isAllowed) => (isAllowed ? allowed : denied).add() }
}

const METHODS = ['password', 'code', 'oidc', 'totp', 'lookup_secret'] as const
const OUTCOMES = ['succeeded', 'second_factor_owed', 'failed', 'throttled'] as const
type SignInOutcome = (typeof OUTCOMES)[number]

/** Counts sign-ins by outcome. */
export interface SignInEvents {
  /** Counts an outcome once it is on disk. Sending a code or a redirect doesn't count. */
  counted(
    kind: FlowKind,
    how: Submission | 'oidc',
    submit: () => Promise<Outcome>,
  ): Promise<Outcome>
}

export function createSignInMetrics(metrics: Metrics): SignInEvents {
  const signIns = metrics.counter('gate_sign_ins_total', 'Sign-in attempts by method and outcome.')
  for (const method of METHODS) for (const outcome of OUTCOMES) signIns.with({ method, outcome })

  const ended = (method: string, outcome: SignInOutcome) => signIns.add({ method, outcome })

  async function counted(kind: FlowKind, how: Submission | 'oidc', submit: () => Promise<Outcome>) {
    if (kind !== 'login') return submit()
    const method = how === 'oidc' ? how : methodOf(how)
    try {
      const outcome = await submit()
      if (outcome.is === 'signed_in')
        ended(method, outcome.owesSecondFactor ? 'second_factor_owed' : 'succeeded')
      return outcome
    } catch (error) {
      if (error instanceof FlowFailure) ended(method, error.status === 429 ? 'throttled' : 'failed')
      throw error
    }
  }

  return { counted }
}

const FIELDS: Record<(typeof METHODS)[number], string> = {
  password: 'password',
  code: 'code',
  oidc: 'provider',
  totp: 'totp_code',
  lookup_secret: 'lookup_secret',
}

/** Method of a form. An unknown name is `other`; a form without a name is judged by its fields. */
function methodOf(form: Submission): string {
  const named = form.again('method')
  const method =
    named === undefined
      ? METHODS.find((known) => form.mentions(FIELDS[known]))
      : METHODS.find((known) => known === named)
  return method ?? 'other'
}
