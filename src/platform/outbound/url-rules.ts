import { isIP } from 'node:net'
import { invalid } from '../errors.ts'
import { whatForbids } from './addresses.ts'
import type { AllowList } from './allow-list.ts'

/** A URL that passed every rule that needs no look-up. */
export interface Target {
  url: URL
  /** `name:port` in one spelling: calls to the same place share it. */
  host: string
  /** Host name or literal address, lower case, without brackets and trailing dot. */
  name: string
  port: number
  /** The URL names an address, so that there is nothing to look up. */
  isAddress: boolean
}

const LONGEST_URL = 8192
const LONGEST_NAME = 253
const LONGEST_LABEL = 63

/**
 * Judges the parsed URL, never the raw text: the parser has by then undone hexadecimal,
 * octal, percent-coded and full-width spellings. Throws `invalid`, naming the rule.
 */
export function checkTarget(raw: string, allow: AllowList): Target {
  const target = locate(parse(raw))
  checkCredentials(raw, target.url)
  if (target.isAddress) checkAddress(target, allow)
  else checkName(target, allow)
  return target
}

/** The sentence for a URL that may not be called. */
export const refusedUrl = (rule: string) => invalid(`URL refused: ${rule}`)

function parse(raw: string): URL {
  if (raw.length > LONGEST_URL) throw refusedUrl(`it is longer than ${LONGEST_URL} characters`)
  const url = URL.parse(raw)
  if (!url) throw refusedUrl('it is not a valid http or https URL')
  if (url.protocol === 'http:' || url.protocol === 'https:') return url
  throw refusedUrl(`the scheme ${url.protocol.slice(0, -1)} is not http or https`)
}

function locate(url: URL): Target {
  const literal = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isAddress = isIP(literal) !== 0
  const name = isAddress ? literal : literal.toLowerCase().replace(/\.$/, '')
  const port = url.port === '' ? defaultPort(url) : Number(url.port)
  if (port === 0) throw refusedUrl('port 0 cannot be called')
  return { url, host: `${url.hostname.replace(/\.$/, '')}:${port}`, name, port, isAddress }
}

const defaultPort = (url: URL) => (url.protocol === 'https:' ? 443 : 80)

/** The parser forgets an empty `user:@`; the raw text still shows it. */
function checkCredentials(raw: string, url: URL) {
  const authority = /^[^:]*:[\\/\s]*([^\\/?#]*)/.exec(raw)?.[1] ?? ''
  if (url.username === '' && url.password === '' && !authority.includes('@')) return
  throw refusedUrl('credentials in the URL are not allowed, send them in a header')
}

function checkAddress({ name, port }: Target, allow: AllowList) {
  const what = whatForbids(name, port, allow, false)
  if (what) throw refusedUrl(`${name} is ${what}`)
}

function checkName({ name, port }: Target, allow: AllowList) {
  const labels = name.split('.')
  if (labels.some((label) => label.length === 0)) throw refusedUrl(`${name} has an empty label`)
  if (name.length > LONGEST_NAME || labels.some((label) => label.length > LONGEST_LABEL)) {
    throw refusedUrl('the hostname is too long for DNS')
  }
  if (allow.hasName(name, port)) return
  if (labels.at(-1) === 'localhost') throw refusedUrl(`${name} is a loopback hostname`)
  if (labels.length === 1) throw refusedUrl(`${name} is a single-label hostname`)
}
