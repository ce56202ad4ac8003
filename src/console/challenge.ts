import { SESSION_COOKIE } from './operators/session-cookie.ts'

/** Paths that take a session instead of an API key. */
const OF_SESSIONS = /^\/(console|dashboard|setup)(\/|$)/

/**
 * Value of `WWW-Authenticate`, which a 401 response must have (RFC 9110, 15.5.2). No scheme is registered
 * for cookies; `Cookie` is used by drafts and other servers, and makes no browser ask for a password.
 */
export const challengeOn = (path: string): string =>
  OF_SESSIONS.test(path) ? `Cookie cookie-name="${SESSION_COOKIE}"` : 'Bearer'
