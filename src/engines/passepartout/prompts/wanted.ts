import type { AttemptRow } from '../store/attempts.ts'
import type { LoginOutcome } from '../texts/wording.ts'

/** What the message of an attempt has to show at `now`: the question, or how it ended. */
export function wantedOf({ state, expiresAt }: AttemptRow, now: number): 'question' | LoginOutcome {
  if (state !== 'pending' && state !== 'opened') return state
  return now < expiresAt ? 'question' : 'expired'
}
