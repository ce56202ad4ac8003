import {
  AuthorizationResponseError,
  OperationProcessingError,
  UnsupportedOperationError,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi'
import type { AnyProvider } from '../../../../config/index.ts'
import { CallFailure } from '../../../../platform/transport/failure.ts'

/** Why a provider refuses a request. */
export interface Refusal {
  /** The part of the request that it objects to; undefined if it does not say. */
  about: 'redirect' | 'client' | 'code' | undefined
  /** What it says, without our secrets: for admins, not for users or the log. */
  words: string
}

/**
 * `denied`: the user or the provider refused. `message` is for the log and contains no secret, code
 * or token; the library's `cause` contains all three, so there is none.
 */
export class SocialError extends Error {
  constructor(
    readonly reason: 'denied' | 'failed',
    message: string,
    readonly refusal?: Refusal,
  ) {
    super(message)
    this.name = 'SocialError'
  }
}

/** Throws a `SocialError` for an unusable response. */
export function failed(message: string): never {
  throw new SocialError('failed', message)
}

/** Error codes that mean that the user declined, or has to be asked first. */
const REFUSALS = new Set([
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'login_required',
  'user_cancelled_authorize',
  'user_cancelled_login',
])

/** Converts any error of `provider` to a `SocialError` that names it. */
export function asSocialError(provider: AnyProvider, error: unknown): SocialError {
  const { reason, message } = judge(error)
  return new SocialError(reason, `${provider}: ${message}`)
}

/** Why a call to a provider failed, without secrets, as the beginning of a sentence. */
export function reasonIn(error: unknown): string {
  const { message: reason } = judge(error)
  const isHost = reason.split(' ')[0]?.includes('.')
  return isHost ? reason : `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`
}

function judge(error: unknown): Pick<SocialError, 'reason' | 'message'> {
  if (error instanceof SocialError) return error
  if (error instanceof AuthorizationResponseError) {
    const reason = REFUSALS.has(error.error) ? 'denied' : 'failed'
    return { reason, message: `the callback has ${errorNamed(error.error)}` }
  }
  return { reason: 'failed', message: whatFailed(error) }
}

function whatFailed(error: unknown): string {
  if (error instanceof CallFailure) return error.message
  if (
    error instanceof OperationProcessingError ||
    error instanceof UnsupportedOperationError ||
    error instanceof WWWAuthenticateChallengeError
  ) {
    // Messages of the library name fields, never their values.
    return error.message
  }
  return `invalid response (${error instanceof Error ? error.name : typeof error})`
}

/** An error code of the specifications; anything else may be hostile and is not shown. */
export const errorNamed = (word: string): string =>
  /^[a-z_]{1,60}$/.test(word) ? `the error ${word}` : 'an unknown error'
