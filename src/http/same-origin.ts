import { forbidden } from '../platform/errors.ts'
import { isSafe } from './scoped.ts'

/**
 * Throws `forbidden` for a request that a page of another site may have caused, because browsers
 * add the cookie to any request. `ownUrl` is the address of this installation.
 *
 * `Sec-Fetch-Site` is checked first. Browsers send it on https and loopback only; elsewhere the
 * `Origin` must be ours. A client that sends neither is no browser: all browsers send an `Origin`
 * with requests that change something, and a page can remove neither header. Such a program has the
 * cookie from its user, and demanding a header that it could forge gains nothing: `curl -b` works.
 */
export function requireSameOrigin({ method, headers }: Request, ownUrl: string) {
  if (isSafe(method)) return
  const site = headers.get('sec-fetch-site')
  if (site === 'same-origin') return
  if (site !== null && site !== 'none')
    throw forbidden(
      `must be same-origin or none, not ${site.slice(0, 100)}: other sites cannot send this`,
      { field: 'Sec-Fetch-Site', rule: 'not_allowed' },
    )
  const origin = headers.get('origin')
  if (origin === null) return
  const own = new URL(ownUrl).origin
  if (origin !== own)
    throw forbidden(`must be ${own}, the URL of this installation, not ${origin.slice(0, 100)}`, {
      field: 'Origin',
      rule: 'not_allowed',
    })
}
