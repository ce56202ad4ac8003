import { setCookie } from '../http/cookies.ts'
import { SESSION_COOKIE } from './operators/visitors.ts'

/** The cookie that keeps somebody signed in, and the one that ends it. */
export function createSessionCookie({ baseUrl }: { baseUrl: () => string }) {
  const place = () => {
    const { pathname, protocol } = new URL(baseUrl())
    return { path: pathname.replace(/(.)\/$/, '$1'), isSecure: protocol === 'https:' }
  }
  return {
    given: (token: string): string => setCookie(SESSION_COOKIE, token, place()),
    taken: (): string => `${setCookie(SESSION_COOKIE, '', place())}; Max-Age=0`,
  }
}
