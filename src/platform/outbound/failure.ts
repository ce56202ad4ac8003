/**
 * Why a call got no reply. `refused` is a rule of Gatehouse, so retries don't help; all others are
 * caused by the network or the target.
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

/** An expected failure of a call. `message` is a sentence for users. */
export class CallFailure extends Error {
  constructor(
    readonly reason: FailureReason,
    message: string,
    /** The time limit that was exceeded, if the reason is `timeout`. */
    readonly within = '',
  ) {
    super(message)
    this.name = 'CallFailure'
  }
}

/** The system's code of an error, such as `ECONNREFUSED`, or its message if it has none. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
