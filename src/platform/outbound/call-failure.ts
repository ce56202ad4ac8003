import type { Phase } from './call.ts'
import { CallFailure, errorCode } from './failure.ts'

/** The other end of a connection, for error messages. */
export interface Peer {
  /** The host name in the caller's spelling. */
  name: string
  address: string
  port: number
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

/**
 * Converts an error of the socket or the HTTP parser to a failure, depending on the phase of the
 * call.
 */
export function asCallFailure(error: unknown, phase: Phase, peer: Peer): CallFailure {
  const code = errorCode(error)
  if (phase === 'dns' || phase === 'connect') return connectFailure(code, peer)
  if (phase === 'tls') return tlsFailure(code, peer)
  return code.startsWith('HPE_') ? protocolFailure(code) : brokenOff(phase)
}

function connectFailure(code: string, { address, port }: Peer) {
  const place = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
  const words = CONNECT_WORDS[code]
  const message = words ? `connection to ${place} ${words}` : `no connection to ${place} (${code})`
  return new CallFailure('connect', message)
}

function tlsFailure(code: string, { name }: Peer) {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return new CallFailure('tls', `TLS: the certificate is not valid for ${name}`)
  }
  return new CallFailure('tls', `TLS: ${TLS_WORDS[code] ?? `the handshake failed (${code})`}`)
}

function protocolFailure(code: string) {
  const what =
    code === 'HPE_HEADER_OVERFLOW'
      ? 'the response headers are too large'
      : `the response is not valid HTTP (${code})`
  return new CallFailure('protocol', what)
}

/** Why a body is incomplete, for calls whose head is enough. */
export function bodyTrouble({ reason, within }: CallFailure): string {
  if (reason === 'timeout') return `the body was not complete within ${within}`
  if (reason === 'aborted') return 'the request was cancelled before the body was complete'
  if (reason === 'protocol') return 'the body is not valid HTTP'
  return 'the connection closed before the body was complete'
}

/** The failure for a connection that ended before the response. */
export const brokenOff = (phase: Phase) =>
  new CallFailure(
    'reset',
    phase === 'read'
      ? 'the connection closed before the response was complete'
      : 'the connection closed before a response arrived',
  )
