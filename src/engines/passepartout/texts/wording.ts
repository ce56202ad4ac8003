/** How a prompted sign-in ended. */
export type LoginOutcome = 'approved' | 'denied' | 'mismatched' | 'expired'

/** The result of a tapped button: how the sign-in ended, or why it had no effect. */
export type CallbackResult = LoginOutcome | 'over' | 'not_yours'

/** Replies to messages that do not lead to a prompt. */
export type ReplyKind =
  | 'hello'
  | 'unknown_link'
  | 'expired_link'
  | 'taken_link'
  | 'answered_link'
  | 'cooling_down'
  | 'too_many'

/**
 * Names and times are ready for display. No line begins with a name: a right-to-left one would
 * reverse the line. The warning has no name, so that no tenant can alter its meaning.
 */
export interface Wording {
  /** Both labels have about the same length and weight, so that neither looks like the default. */
  approve: string
  deny: string
  question(app: string): string
  /** Labels of what is known about the client that asks. */
  facts: Record<'label' | 'device' | 'address' | 'time', string>
  /** Joins browser and system, as in `Chrome on Windows`. */
  on: string
  warning: readonly string[]
  /** Instruction above the number buttons. */
  tapNumber: string
  /** Instruction above the Approve and Deny buttons. */
  tapButton: string
  outcomes: Record<LoginOutcome, (about: { app: string; time: string }) => string>
  notices: Record<CallbackResult, string>
  /** `start` is when the next sign-in is possible, null if unknown. */
  replies: Record<ReplyKind, (about: { app: string; start: string | null }) => string>
}
