/** The value of the cookie with exactly this name; undefined if there is none. */
export function cookieIn(request: Request, name: string): string | undefined {
  for (const part of (request.headers.get('cookie') ?? '').split(';')) {
    const at = part.indexOf('=')
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return undefined
}

/** A `Set-Cookie` value: hidden from scripts, and sent by other sites only when a link is followed. */
export const setCookie = (
  name: string,
  value: string,
  { path, isSecure }: { path: string; isSecure: boolean },
): string => `${name}=${value}; Path=${path}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`

export type Cookie = ReturnType<typeof createCookie>

/**
 * A cookie of this installation. With https its name begins with `__Host-`, or with `__Secure-` if
 * `base_url` has a path. Browsers accept the former only from this host, so no sibling domain can
 * plant one. `path` narrows where it is sent, except for `__Host-`, which allows no path.
 */
export function createCookie(parts: { name: string; path?: string; baseUrl: () => string }) {
  const { name, path = '', baseUrl } = parts

  function attributes() {
    const { base, isSecure } = cookieBaseOf(baseUrl())
    const prefix = prefixFor(baseUrl())
    return {
      name: `${prefix}${name}`,
      path: prefix === HOST_PREFIX ? '/' : `${base}${path}` || '/',
      isSecure,
    }
  }

  function set(value: string): string {
    const { name: full, ...options } = attributes()
    return setCookie(full, value, options)
  }

  return {
    set,
    /** Set for a year instead of until the browser is closed. */
    keep: (value: string): string => `${set(value)}; Max-Age=31536000`,
    end: (): string => `${set('')}; Max-Age=0`,
    in: (request: Request) => cookieIn(request, attributes().name),
  }
}

const HOST_PREFIX = '__Host-'
const SECURE_PREFIX = '__Secure-'

/** Separate names for http, which can't replace `Secure` cookies after `base_url` changes. */
function prefixFor(baseUrl: string): string {
  const { base, isSecure } = cookieBaseOf(baseUrl)
  if (!isSecure) return ''
  return base === '' ? HOST_PREFIX : SECURE_PREFIX
}

/** The path of `base_url` without a trailing slash, and whether cookies require https. */
export function cookieBaseOf(baseUrl: string): { base: string; isSecure: boolean } {
  const { pathname, protocol } = new URL(baseUrl)
  return { base: pathname.replace(/\/$/, ''), isSecure: protocol === 'https:' }
}

/** A preference under any name. Pages send the one they show, so a planted cookie is harmless. */
export const preferenceIn = (request: Request, name: string): string | undefined =>
  cookieIn(request, `${HOST_PREFIX}${name}`) ??
  cookieIn(request, `${SECURE_PREFIX}${name}`) ??
  cookieIn(request, name)
