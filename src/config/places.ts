import { isIP } from 'node:net'
import { text, word } from './kinds.ts'

/** Where to listen. */
export const host = text(
  'an address or a host name',
  (written) => isIP(written) > 0 || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(written),
)

/** `10.0.0.7`, `10.0.0.0/8`, `::1` or `fd00::/8`. */
export const network = text('an address or a network such as 10.0.0.0/8', isNetwork)

/** The front of a URL, to which paths are added: kept without the slash at its end. */
export const baseUrl = text(
  'an http or https URL without a query',
  (written) => isWebUrl(written) && !written.includes('?'),
  (written) => new URL(written).href.replace(/\/+$/, ''),
)

/** A whole URL, kept as it is written: an issuer is compared letter by letter. */
export const endpoint = text('an http or https URL', isWebUrl)

/** Where mail is handed in. */
export const smtpUrl = text('a URL such as smtp://user:password@host:587', isMailServer)

const ADDRESS = '[^\\s\\p{Cc}<>@,;]+@[^\\s\\p{Cc}<>@,;]+'

/** An address, with or without a name before it. */
export const mailbox = word(
  new RegExp(`^(?:${ADDRESS}|[^\\p{Cc}<>@,;]{0,100}<${ADDRESS}>)$`, 'u'),
  'an address such as Gatehouse <gatehouse@example.org>',
)

/** What the outbound client may reach beyond the public internet; that client reads it closely. */
export const allowed = word(
  /^[^\s\p{Cc}]{1,300}$/u,
  'a host name, *.suffix, address or network, with or without a port',
)

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  if (longest < 0 || address.includes('%') || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest)
}

/** A user name in a URL would be sent to nobody and shown to everybody. */
function isWebUrl(text: string): boolean {
  const url = urlOf(text, /^https?:\/\//i)
  return url !== undefined && !url.username && !url.password && !text.includes('#')
}

/**
 * A path or a query would be a password with `/`, `?` or `#` in it, cut in two: such characters
 * are to be percent-encoded.
 */
function isMailServer(text: string): boolean {
  const url = urlOf(text, /^smtps?:\/\//i)
  if (!url || /[?#]/.test(text) || !/^\/?$/.test(url.pathname)) return false
  return (url.username === '') === (url.password === '') && isDecodable(url.username + url.password)
}

const isDecodable = (text: string): boolean => {
  try {
    return decodeURIComponent(text) !== undefined
  } catch {
    return false
  }
}

/** `URL` by itself forgives spaces, missing slashes and line breaks. */
function urlOf(text: string, start: RegExp): URL | undefined {
  if (!start.test(text) || /[\s\p{Cc}\\]/u.test(text)) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.hostname ? url : undefined
}
