import { setCookie } from '../http/cookies.ts'
import { SESSION_COOKIE } from './operators/visitors.ts'

/** By this one a browser is known again that has begun to sign in. */
export const LOGIN_COOKIE = 'gatehouse_login'

/** The cookie that keeps somebody signed in, and the one that ends it. */
export function createSessionCookie({ baseUrl }: { baseUrl: () => string }) {
  const place = () => {
    const { pathname, protocol } = new URL(baseUrl())
    return { path: pathname.replace(/(.)\/$/, '$1'), isSecure: protocol === 'https:' }
  }
  return {
    begun: (state: string): string => setCookie(LOGIN_COOKIE, state, place()),
    given: (token: string): string => setCookie(SESSION_COOKIE, token, place()),
    taken: (): string => `${setCookie(SESSION_COOKIE, '', place())}; Max-Age=0`,
  }
}
