import { forbidden } from '../platform/errors.ts'
import { isSafe } from './scoped.ts'

/**
 * Throws `forbidden` for what a page of another site may have made a browser send: browsers add the
 * cookie whoever asks. `ownUrl` is the address of this installation.
 *
 * What the browser says of the sender itself (`Sec-Fetch-Site`) comes first; it says so on https and
 * loopback only, and elsewhere its `Origin` has to be ours. Whoever sends neither is no browser: all
 * of them put an `Origin` on what changes something, and a page can take neither header away. Such a
 * program has the cookie from its user, by hand, so nothing is gained by asking it for a header that
 * it could as well make up: `curl -b` works.
 */
export function requireSameOrigin({ method, headers }: Request, ownUrl: string) {
  if (isSafe(method)) return
  const site = headers.get('sec-fetch-site')
  if (site === 'same-origin') return
  if (site !== null && site !== 'none')
    throw forbidden(
      `must be same-origin or none, not ${site.slice(0, 100)}: other sites cannot send this`,
      {
        field: 'Sec-Fetch-Site',
        rule: 'not_allowed',
      },
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
