/**
 * Why a call brought no reply. `refused` is a rule of Gatehouse, and trying again changes
 * nothing; everything else is the network or the target.
 */
export type FailureReason =
  | 'refused'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'protocol'
  | 'aborted'

/** An expected end of a call without a reply. `message` is a sentence for people. */
export class CallFailure extends Error {
  constructor(
    readonly reason: FailureReason,
    message: string,
    /** How long was waited, where the reason is `timeout`. */
    readonly within = '',
  ) {
    super(message)
    this.name = 'CallFailure'
  }
}

/** The system's name of an error (`ECONNREFUSED`), or what it says when it has none. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
