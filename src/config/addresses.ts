import { isIP } from 'node:net'
import { text, word } from './kinds.ts'

/** An address or host name to listen on. */
export const host = text(
  'an IP address or host name, such as 127.0.0.1',
  (written) => isIP(written) > 0 || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(written),
)

/** `10.0.0.7`, `10.0.0.0/8`, `::1` or `fd00::/8`. */
export const network = text('an IP address or network, such as 10.0.0.0/8', isNetwork)

/** The start of a URL, to which paths are added; stored without a trailing slash. */
export const baseUrl = text(
  'an http or https URL without a query, such as https://gatehouse.example.org',
  (written) => isWebUrl(written) && !written.includes('?'),
  (written) => new URL(written).href.replace(/\/+$/, ''),
)

/** A complete URL, stored as written, because issuers are compared exactly. */
export const endpoint = text('an http or https URL', isWebUrl)

/** A bucket in object storage, and the start of the names in it; stored without a trailing slash. */
export const objectUrl = text(
  'the URL of a bucket, with or without a folder, such as s3://my-bucket/gatehouse',
  (written) =>
    /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/(?!\.\.?(\/|$))[\w.-]{1,200}){0,9}\/*$/.test(
      written,
    ),
  (written) => written.replace(/\/+$/, ''),
)

/** The URL of a mail server. */
export const smtpUrl = text('a URL such as smtp://user:password@host:587', isMailServer)

const ADDRESS = '[^\\s\\p{Cc}<>@,;]+@[^\\s\\p{Cc}<>@,;]+'

/** An email address, with or without a name. */
export const mailbox = word(
  new RegExp(`^(?:${ADDRESS}|[^\\p{Cc}<>@,;]{0,100}<${ADDRESS}>)$`, 'u'),
  'an email address, such as Gatehouse <gatehouse@example.org>',
)

/** An entry of `[outbound] allow`. The outbound client checks it in detail. */
export const allowed = word(
  /^[^\s\p{Cc}]{1,300}$/u,
  'a host name, *.suffix, IP address or network, with or without a port',
)

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  if (longest < 0 || address.includes('%') || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest)
}

/** Whether a URL is http or https, without a fragment and a user name, which would be visible in pages. */
function isWebUrl(text: string): boolean {
  const url = urlOf(text, /^https?:\/\//i)
  return url !== undefined && !url.username && !url.password && !text.includes('#')
}

/** A path or query is refused: it belongs to a password with an unencoded `/`, `?` or `#`. */
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

/** Parses a URL more strictly than `URL`, which accepts spaces, missing slashes and line breaks. */
function urlOf(text: string, start: RegExp): URL | undefined {
  if (!start.test(text) || /[\s\p{Cc}\\]/u.test(text)) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.hostname ? url : undefined
}
