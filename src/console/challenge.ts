import { SESSION_COOKIE } from './session-cookie.ts'

/** Where operators act with a session, and no key is of use. */
const OF_SESSIONS = /^\/(console|dashboard|setup)(\/|$)/

/**
 * What an answer of 401 asks for, which it has to say (RFC 9110, 15.5.2). No scheme is registered
 * for cookies; `Cookie` is what drafts of one and other servers call it, and no browser asks for a
 * name and a password at it.
 */
export const challengeOn = (path: string): string =>
  OF_SESSIONS.test(path) ? `Cookie cookie-name="${SESSION_COOKIE}"` : 'Bearer'
