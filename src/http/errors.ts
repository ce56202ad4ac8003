import type { AppError, ErrorKind, Rule } from '../platform/errors.ts'

/** HTTP status of each kind of failure. No other code knows these numbers. */
const STATUS: Record<ErrorKind | 'internal', number> = {
  invalid: 400,
  unauthenticated: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
}

/** Error codes that differ from the name of their kind. A failure with its own code keeps that. */
const CODE: Partial<Record<ErrorKind, string>> = {
  invalid: 'invalid_payload',
  too_large: 'payload_too_large',
}

/** A failure as clients receive it. */
export interface Failure {
  kind: ErrorKind | 'internal'
  /** Error code, for bodies that include one. */
  code: string
  /** For people; programs use the other fields. */
  message: string
  /** The rule that was broken. */
  rule?: Rule | undefined
  /** When to try again. */
  retryAfterMs?: number | undefined
  /** Additional fields of a plain body. */
  detail?: Readonly<Record<string, unknown>> | undefined
}

export const statusOf = ({ kind }: Pick<Failure, 'kind'>): number => STATUS[kind]

export const failureOf = (error: AppError): Failure => {
  const { kind, code, message, rule, retryAfterMs, detail } = error
  return {
    kind,
    code: code === kind ? (CODE[kind] ?? kind) : code,
    message,
    rule,
    retryAfterMs,
    detail,
  }
}

/** Does not reveal the cause, which is logged with the request id. */
export const INTERNAL: Failure = {
  kind: 'internal',
  code: 'internal',
  message: 'internal error. The server log has the details under this request id',
}

export type ErrorBody =
  | { error: string; [detail: string]: unknown }
  | { error: { code: string; message: string; request_id: string } }

/** By contract, a sentence, or an object with code and request id. Flows are their own body. */
export function errorBody(path: string, failure: Failure, requestId: string): ErrorBody {
  const { code, message, detail } = failure
  return carriesCode(path)
    ? { error: { code, message, request_id: requestId } }
    : { error: message, ...detail }
}

const WITH_CODE = [
  '/v1/relay',
  '/v1/passepartout',
  '/v1/notifications',
  '/v1/manifest',
  '/v1/installation',
  '/v1/gate/tokens',
  '/v1/gate/authorize',
  '/access/v1',
]

const carriesCode = (path: string): boolean =>
  WITH_CODE.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
