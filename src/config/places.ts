import { isIP } from 'node:net'
import { Type } from '@sinclair/typebox'
import { type Kind, kindOf } from './kind.ts'
import { word } from './kinds.ts'

/** Where to listen. */
export const host: Kind<string> = textWith('an address or a host name', (text) =>
  isIP(text) || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text) ? text : undefined,
)

/** `10.0.0.7`, `10.0.0.0/8`, `::1` or `fd00::/8`. */
export const network: Kind<string> = textWith(
  'an address or a network such as 10.0.0.0/8',
  (text) => (isNetwork(text) ? text : undefined),
)

/** The front of a URL, to which paths are added: kept without the slash at its end. */
export const baseUrl: Kind<string> = textWith('an http or https URL without a query', (text) => {
  const url = webUrl(text)
  return url && !text.includes('?') ? url.origin + url.pathname.replace(/\/+$/, '') : undefined
})

/** A whole URL, kept as it is written: an issuer is compared letter by letter. */
export const endpoint: Kind<string> = textWith('an http or https URL', (text) =>
  webUrl(text) ? text : undefined,
)

/** Where mail is handed in. */
export const smtpUrl: Kind<string> = textWith(
  'a URL such as smtp://user:password@host:587',
  (text) => (urlOf(text, /^smtps?:\/\//i) ? text : undefined),
)

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

/** Text that `parse` accepts and puts into its usual form. */
function textWith(expected: string, parse: (text: string) => string | undefined): Kind<string> {
  return kindOf({
    schema: Type.String(),
    expected,
    parse: (raw) => (typeof raw === 'string' ? parse(raw) : undefined),
    write: (value) => value,
  })
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  if (longest < 0 || address.includes('%') || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest)
}

/** A user name in a URL would be sent to nobody and shown to everybody. */
function webUrl(text: string): URL | undefined {
  const url = urlOf(text, /^https?:\/\//i)
  return url && !url.username && !url.password && !text.includes('#') ? url : undefined
}

/** `URL` by itself forgives spaces, missing slashes and line breaks. */
function urlOf(text: string, start: RegExp): URL | undefined {
  if (!start.test(text) || /[\s\p{Cc}\\]/u.test(text)) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.hostname ? url : undefined
}
