import type { Peer } from './peer.ts'

/** The phases of a call, in order; failures depend on the phase that was reached. */
export type Phase = 'dns' | 'connect' | 'tls' | 'wait' | 'read'

/**
 * Why a call got no reply. `refused` is a rule of Gatehouse, so retries don't help; all others are
 * caused by the network or the target. Only trusted peers fail with `redirect` and `too_large`.
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
  | 'redirect'
  | 'too_large'

/** An expected failure of a call. `message` is a sentence for users. */
export class CallFailure extends Error {
  /** The time limit that was exceeded, if the reason is `timeout`. */
  readonly within: string
  /** The system's code of the error that caused it; empty if there is none. */
  readonly code: string

  constructor(
    readonly reason: FailureReason,
    message: string,
    { within = '', code = '' }: { within?: string; code?: string } = {},
  ) {
    super(message)
    this.name = 'CallFailure'
    this.within = within
    this.code = code
  }
}

const CONNECT_WORDS: Record<string, string> = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timed out',
  EHOSTUNREACH: 'failed: no route to the host',
  ENETUNREACH: 'failed: no route to the network',
  ECONNRESET: 'closed by the server',
}

const UNTRUSTED = 'the certificate is not signed by a trusted authority'

const TLS_WORDS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate is revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  CERT_SIGNATURE_FAILURE: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  ECONNRESET: 'the server closed the connection during the handshake',
  ERR_SOCKET_CLOSED: 'the server closed the connection during the handshake',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not use TLS',
}

export function asCallFailure(error: unknown, phase: Phase, peer: Peer): CallFailure {
  const code = errorCode(error)
  if (phase === 'dns' || phase === 'connect') return connectFailure(code, peer)
  if (phase === 'tls') return tlsFailure(code, peer)
  return brokenOff(phase, code)
}

function connectFailure(code: string, { address, port }: Peer) {
  const host = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
  const words = CONNECT_WORDS[code]
  const message = words ? `connection to ${host} ${words}` : `no connection to ${host} (${code})`
  return new CallFailure('connect', message, { code })
}

function tlsFailure(code: string, { name }: Peer) {
  const words =
    code === 'ERR_TLS_CERT_ALTNAME_INVALID'
      ? `the certificate is not valid for ${name}`
      : (TLS_WORDS[code] ?? `the handshake failed (${code})`)
  return new CallFailure('tls', `TLS: ${words}`, { code })
}

/** The failure for a response with an invalid part, such as `the status line`. */
export const notHttp = (part: string) =>
  new CallFailure('protocol', `the response is not valid HTTP (${part})`)

export const tooLargeHead = () => new CallFailure('protocol', 'the response headers are too large')

/** The failure for a connection that ended before the response. */
export const brokenOff = (phase: Phase, code = '') =>
  new CallFailure(
    'reset',
    phase === 'read'
      ? 'the connection closed before the response was complete'
      : 'the connection closed before a response arrived',
    { code },
  )

/** Why a body is incomplete, for calls whose head is enough. */
export function bodyIssue({ reason, within }: CallFailure): string {
  if (reason === 'timeout') return `the body was not complete within ${within}`
  if (reason === 'aborted') return 'the request was cancelled before the body was complete'
  if (reason === 'protocol') return 'the body is not valid HTTP'
  return 'the connection closed before the body was complete'
}

const TRUSTED_WORDS: Partial<Record<FailureReason, string>> = {
  timeout: 'did not respond completely in time',
  too_large: 'sent a response that is too large',
  redirect: 'redirects, but redirects are not followed',
  aborted: 'was cancelled',
}

/**
 * The failure of a call to a trusted peer, for the operator. Its message contains at most the host
 * and the system's code, because paths, queries and foreign messages may contain secrets.
 */
export function trustedFailure(error: unknown, url: string): CallFailure {
  const { reason, code } =
    error instanceof CallFailure ? error : { reason: 'protocol' as const, code: errorCode(error) }
  const host = URL.parse(url)?.host ?? 'an invalid URL'
  const words = TRUSTED_WORDS[reason] ?? 'cannot be reached'
  const shownCode = /^\w{1,60}$/.test(code) ? ` (${code})` : ''
  return new CallFailure(reason, `${host} ${words}${shownCode}`, { code })
}

/** The system's code of an error, such as `ECONNREFUSED`, or its message if it has none. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

/** Whether the code or the message of an error says that a certificate is not trusted. */
export const isAboutCertificate = (error: string): boolean =>
  /CERT|ISSUER|SIGNATURE|ALTNAME/.test(error)
