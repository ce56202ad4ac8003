/**
 * The kinds of expected failure. `http/errors.ts` alone chooses status numbers and body shapes
 * for them.
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

/** Which rule an input breaks: for programs, where the sentence is for people. */
export type Rule =
  /** Missing, or empty where it must not be. */
  | 'required'
  /** Not a member, parameter or name that exists. */
  | 'unknown'
  /** Given more than once. */
  | 'duplicate'
  /** A value of another JSON type. */
  | 'type'
  /** Not spelled as it must be. */
  | 'format'
  /** Not one of a fixed set. */
  | 'choice'
  /** A number or time outside its bounds. */
  | 'range'
  | 'too_short'
  | 'too_long'
  /** More bytes than allowed. */
  | 'too_large'
  /** More items than allowed. */
  | 'too_many'
  /** Nested deeper than allowed. */
  | 'too_deep'
  /** Characters that cannot be stored or sent. */
  | 'characters'
  /** Belongs to the server. */
  | 'reserved'
  /** Cannot be changed like this. */
  | 'read_only'
  /** In use by another. */
  | 'taken'
  /** Does not go together with another field, or with what is stored. */
  | 'mismatch'
  /** Changed since it was read. */
  | 'changed'
  /** Expired, used or revoked. */
  | 'expired'
  /** A limit of the tenant or the server is reached. */
  | 'limit'
  /** Never happens, such as a date of a schedule. */
  | 'never'
  /** Too easy to guess. */
  | 'weak'
  /** Contains user and password. */
  | 'credentials'
  /** Not publicly reachable. */
  | 'private_address'
  /** Not permitted here. */
  | 'not_allowed'
  /** Part of it is missing or has been altered. */
  | 'damaged'
  /** No route of the server has this path. */
  | 'unknown_route'

/** One thing that is wrong with an input. */
export interface FieldError {
  /** Dotted path as the API names it, such as `headers.X-Foo`; absent for the input as a whole. */
  field?: string | undefined
  rule?: Rule | undefined
  /** The rest of a sentence that begins with the field: `must be an http or https URL`. */
  problem: string
  /** Position within a text field; both count from 1. */
  at?: { line: number; column: number } | undefined
}

/** A field comes with the rule that it breaks. */
type Broken = { field: string; rule: Rule } | { field?: undefined; rule?: Rule | undefined }

export type ErrorOptions = Broken & {
  /** Machine name in bodies of the shape `{error: {code, message, request_id}}`. */
  code?: string | undefined
  /** When to try again, where that is known. */
  retryAfterMs?: number | undefined
  /** Members of a plain body besides its sentence. */
  detail?: Readonly<Record<string, unknown>> | undefined
  /** What the sentence is about as a whole: a part of the input such as `line 12`, or `storage`. */
  within?: string | undefined
}

/**
 * An expected failure. `message` is for people and is never read by code: field, rule and code are.
 * `code` is the machine name that clients get.
 */
export class AppError extends Error {
  readonly code: string
  readonly retryAfterMs: number | undefined
  readonly detail: Readonly<Record<string, unknown>> | undefined
  /** At least one; several where an input is wrong in several ways. */
  readonly fieldErrors: readonly [FieldError, ...FieldError[]]

  constructor(
    readonly kind: ErrorKind,
    problem: string | readonly [FieldError, ...FieldError[]],
    { field, rule, code, retryAfterMs, detail, within }: ErrorOptions = {},
  ) {
    const fieldErrors =
      typeof problem === 'string' ? ([{ field, rule, problem }] as const) : problem
    super(fieldErrors.map((error) => sentence(error, within)).join('\n'))
    this.name = 'AppError'
    this.code = code ?? kind
    this.retryAfterMs = retryAfterMs
    this.detail = detail
    this.fieldErrors = fieldErrors
  }

  get field(): string | undefined {
    return this.fieldErrors[0].field
  }

  get rule(): Rule | undefined {
    return this.fieldErrors[0].rule
  }

  /** The message without the field, for callers that name the field in their own way. */
  get problem(): string {
    return this.fieldErrors[0].problem
  }
}

/** `url: must be an http or https URL`. */
function sentence({ field, at, problem }: FieldError, within: string | undefined): string {
  const place = at && `line ${at.line}, column ${at.column}`
  return [within, field, place, problem].filter(Boolean).join(': ')
}

/** An input that cannot be accepted: always with the rule that it breaks. */
export const invalid = (problem: string, options: ErrorOptions & { rule: Rule }) =>
  new AppError('invalid', problem, options)
export const unauthenticated = (problem: string, options?: ErrorOptions) =>
  new AppError('unauthenticated', problem, options)
export const forbidden = (problem: string, options?: ErrorOptions) =>
  new AppError('forbidden', problem, options)
export const notFound = (problem: string, options?: ErrorOptions) =>
  new AppError('not_found', problem, options)
export const conflict = (problem: string, options?: ErrorOptions) =>
  new AppError('conflict', problem, options)
export const unavailable = (problem: string, options?: ErrorOptions) =>
  new AppError('unavailable', problem, options)
export const rateLimited = (problem: string, options?: ErrorOptions) =>
  new AppError('rate_limited', problem, options)

/**
 * The same error about other fields, for a caller whose own input has other names: `rename` gets
 * each field, undefined for the input as a whole.
 */
export const renamed = (
  { kind, fieldErrors, code, retryAfterMs, detail }: AppError,
  rename: (field: string | undefined) => string | undefined,
  within?: string,
): AppError => {
  const [first, ...rest] = fieldErrors
  const moved = (error: FieldError): FieldError => ({ ...error, field: rename(error.field) })
  const options = { code, retryAfterMs, detail, within }
  return new AppError(kind, [moved(first), ...rest.map(moved)], options)
}

/** Throws in expression position: `store.find(id) ?? fail(notFound('job not found'))`. */
export function fail(error: Error): never {
  throw error
}
