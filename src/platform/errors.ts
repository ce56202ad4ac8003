/** Kinds of expected failure; only `http/errors.ts` maps them to status codes and bodies. */
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

/** The rule that an input breaks, for programs; the message is for people. */
export type Rule =
  /** Missing, or empty although a value is required. */
  | 'required'
  /** The member, parameter or name doesn't exist. */
  | 'unknown'
  /** Given more than once. */
  | 'duplicate'
  /** A value of the wrong JSON type. */
  | 'type'
  /** In the wrong format. */
  | 'format'
  /** Not one of the allowed values. */
  | 'choice'
  /** A number or time that is out of range. */
  | 'range'
  | 'too_short'
  | 'too_long'
  /** More bytes than allowed. */
  | 'too_large'
  /** More items than allowed. */
  | 'too_many'
  /** Nested deeper than allowed. */
  | 'too_deep'
  /** Contains characters that can't be stored or sent. */
  | 'characters'
  /** Reserved for the server. */
  | 'reserved'
  /** Can't be changed this way. */
  | 'read_only'
  /** Already in use. */
  | 'taken'
  /** Doesn't fit another field or stored data. */
  | 'mismatch'
  /** Changed since it was read. */
  | 'changed'
  /** Expired, used or revoked. */
  | 'expired'
  /** A limit of the tenant or the server is reached. */
  | 'limit'
  /** Never happens, such as a schedule for an impossible date. */
  | 'never'
  /** Too easy to guess. */
  | 'weak'
  /** Contains a user name and password. */
  | 'credentials'
  /** Not publicly reachable. */
  | 'private_address'
  /** Not permitted here. */
  | 'not_allowed'
  /** Part of it is missing or has been altered. */
  | 'damaged'
  /** No route has this path. */
  | 'unknown_route'

/** What an operator can do about a problem. */
export interface Remedy {
  /** A sentence without its full stop. */
  text: string
  /** The entry of `[outbound] allow` that permits a target. */
  allow: string
}

/** One problem of an input. */
export interface FieldError {
  /** Dotted path as in the API, such as `headers.X-Foo`; absent for the input as a whole. */
  field?: string | undefined
  rule?: Rule | undefined
  /** The rest of a sentence that begins with the field, such as `must be an http or https URL`. */
  problem: string
  /** What to do about it, if that isn't to change the input. */
  remedy?: Remedy | undefined
  /** The position within a text field, counted from 1. */
  at?: { line: number; column: number } | undefined
}

/** A field is always given with the broken rule. */
type Broken = { field: string; rule: Rule } | { field?: undefined; rule?: Rule | undefined }

export type ErrorOptions = Broken & {
  remedy?: Remedy | undefined
  /** The error code in bodies of the form `{error: {code, message, request_id}}`. */
  code?: string | undefined
  /** Milliseconds until a retry makes sense, if known. */
  retryAfterMs?: number | undefined
  /** Additional members of the body. */
  detail?: Readonly<Record<string, unknown>> | undefined
  /** The part of the input that contains the field, such as `line 12`, or `storage`. */
  within?: string | undefined
}

/**
 * An expected failure. `message` is for people; code reads only field, rule and code. `code` is the
 * error code for clients.
 */
export class AppError extends Error {
  readonly code: string
  readonly retryAfterMs: number | undefined
  readonly detail: Readonly<Record<string, unknown>> | undefined
  /** At least one; several if an input has several problems. */
  readonly fieldErrors: readonly [FieldError, ...FieldError[]]

  constructor(
    readonly kind: ErrorKind,
    problem: string | readonly [FieldError, ...FieldError[]],
    { field, rule, remedy, code, retryAfterMs, detail, within }: ErrorOptions = {},
  ) {
    const fieldErrors =
      typeof problem === 'string' ? ([{ field, rule, problem, remedy }] as const) : problem
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

  /** The message without the field, for callers that name the field themselves. */
  get problem(): string {
    return this.fieldErrors[0].problem
  }
}

/** The message of a problem, such as `url: must be an http or https URL`. */
function sentence(error: FieldError, within: string | undefined): string {
  const { field, at } = error
  const position = at && `line ${at.line}, column ${at.column}`
  return [within, field, position, withRemedy(error)].filter(Boolean).join(': ')
}

/** A problem, followed by its remedy if it has one. */
export const withRemedy = ({ problem, remedy }: FieldError): string =>
  remedy ? `${problem}. ${remedy.text}` : problem

/** An invalid input, always with the broken rule. */
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

/** For callers whose input has other names; `rename` gets undefined for the input as a whole. */
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
