/** How a sign-in that somebody was asked about has ended. */
export type Ending = 'approved' | 'denied' | 'mismatched' | 'expired'

/** What a tap has come to: the end of a sign-in, or nothing. */
export type TapResult = Ending | 'over' | 'not_yours'

/** What is said to somebody whom nothing can be asked. */
export type ReplyKind =
  | 'hello'
  | 'unknown_link'
  | 'expired_link'
  | 'taken_link'
  | 'answered_link'
  | 'cooling_down'
  | 'too_many'

/**
 * All that bots say in one language. Names and times come ready to be shown. No line begins with a
 * name: one from a script that runs the other way would turn the whole line round. The warning has
 * none at all, as it is the one text that has to be ours alone.
 */
export interface Wording {
  /** Neither label is longer, friendlier or more of a default than the other. */
  approve: string
  deny: string
  question(app: string): string
  /** In front of what is known about who asks. */
  facts: Record<'label' | 'device' | 'address' | 'time', string>
  /** Between a browser and what it runs on. */
  on: string
  warning: readonly string[]
  /** What to do beneath numbers. */
  tapNumber: string
  /** What to do beneath Approve and Deny. */
  tapButton: string
  outcomes: Record<Ending, (about: { app: string; time: string }) => string>
  notices: Record<TapResult, string>
  /** `start` is when the next sign-in is possible, null where that is not known. */
  replies: Record<ReplyKind, (about: { app: string; start: string | null }) => string>
}
