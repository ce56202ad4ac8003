/**
 * What can go wrong, in the words of the domain. Status numbers and body shapes are
 * chosen in `http/errors.ts`, nowhere else.
 */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'gone'
  | 'payment_required'
  | 'too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'unavailable'

/** An expected failure. `message` is shown to the caller; `code` is for machines. */
export class AppError extends Error {
  constructor(
    readonly kind: ErrorKind,
    message: string,
    /** Machine name in bodies of the shape `{error: {code, message, request_id}}`. */
    readonly code: string = kind,
    /** When to try again, where that can be said. */
    readonly retryAfterMs?: number,
    /** What a plain body says besides its sentence. */
    readonly detail?: Readonly<Record<string, unknown>>,
  ) {
    super(message)
    this.name = 'AppError'
  }
}

export const invalid = (message: string, code?: string) => new AppError('invalid', message, code)
export const unauthenticated = (message: string) => new AppError('unauthenticated', message)
export const forbidden = (message: string) => new AppError('forbidden', message)
export const notFound = (message: string) => new AppError('not_found', message)
export const conflict = (message: string, code?: string) => new AppError('conflict', message, code)
export const unavailable = (message: string) => new AppError('unavailable', message)
export const rateLimited = (message: string, retryAfterMs?: number) =>
  new AppError('rate_limited', message, 'rate_limited', retryAfterMs)

/** Throws in expression position: `store.find(id) ?? fail(notFound('job not found'))`. */
export function fail(error: Error): never {
  throw error
}
