/** The tokens of a JSON Pointer (RFC 6901). The empty list is the whole document. */
export type Pointer = readonly string[]

/** A tilde that is not part of an escape sequence. */
const STRAY_TILDE = /~(?![01])/

export const isPointer = (text: string): boolean =>
  (text === '' || text.startsWith('/')) && !STRAY_TILDE.test(text)

export const readPointer = (text: string): Pointer => text.split('/').slice(1).map(decode)

/** The order matters: `~01` must decode to `~1`. */
const decode = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')

/** A pointer for error messages, truncated if long. */
export const showPointer = (tokens: Pointer): string =>
  shortened(tokens.map((token) => `/${encode(token)}`).join(''))

const encode = (token: string) => token.replaceAll('~', '~0').replaceAll('/', '~1')

export const shortened = (text: string): string =>
  text.length > 200 ? `${text.slice(0, 200)}…` : text
