/** The value of a cookie that a request brings; undefined without one. */
export function cookieIn(request: Request, name: string): string | undefined {
  for (const part of (request.headers.get('cookie') ?? '').split(';')) {
    const at = part.indexOf('=')
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return undefined
}

/** For a cookie that scripts cannot read, and that other sites only get sent along by links. */
export const setCookie = (
  name: string,
  value: string,
  { path, isSecure }: { path: string; isSecure: boolean },
): string => `${name}=${value}; Path=${path}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
