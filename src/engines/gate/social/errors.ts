import {
  AuthorizationResponseError,
  OperationProcessingError,
  ResponseBodyError,
  UnsupportedOperationError,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi'
import type { AnyProvider } from '../../../config/index.ts'
import { FetchFailure } from '../../../platform/bounded-fetch.ts'

/**
 * Why nobody was signed in. `denied`: the person or the provider said no. `failed`: everything
 * else. `message` is for the log and names neither a secret nor a code nor a token; there is no
 * `cause`, as that of the library holds all three.
 */
export class SocialError extends Error {
  constructor(
    readonly reason: 'denied' | 'failed',
    message: string,
  ) {
    super(message)
    this.name = 'SocialError'
  }
}

/** An answer that nothing can be done with. Throws where it stands. */
export function failed(message: string): never {
  throw new SocialError('failed', message)
}

/** How providers call the case that somebody changed their mind, or must be asked first. */
const REFUSALS = new Set([
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'login_required',
  'user_cancelled_authorize',
  'user_cancelled_login',
])

/** Whatever went wrong with `provider`, as a `SocialError` that names it. */
export function asSocialError(provider: AnyProvider, error: unknown): SocialError {
  const { reason, message } = judge(error)
  return new SocialError(reason, `${provider}: ${message}`)
}

function judge(error: unknown): Pick<SocialError, 'reason' | 'message'> {
  if (error instanceof SocialError) return error
  if (error instanceof AuthorizationResponseError) {
    const reason = REFUSALS.has(error.error) ? 'denied' : 'failed'
    return { reason, message: `came back with ${shown(error.error)}` }
  }
  return { reason: 'failed', message: whatFailed(error) }
}

function whatFailed(error: unknown): string {
  if (error instanceof FetchFailure) return error.message
  if (error instanceof ResponseBodyError) return `refused the code with ${shown(error.error)}`
  if (
    error instanceof OperationProcessingError ||
    error instanceof UnsupportedOperationError ||
    error instanceof WWWAuthenticateChallengeError
  ) {
    // Sentences of the library: they name fields, never what is in them.
    return error.message
  }
  return `an answer that cannot be read (${error instanceof Error ? error.name : typeof error})`
}

/** A word of the specifications, or of somebody who puts something else in its place. */
const shown = (word: string): string =>
  /^[a-z_]{1,60}$/.test(word) ? `the error ${word}` : 'an error that is not one word'
