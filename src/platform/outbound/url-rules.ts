import { isIP } from 'node:net'
import { type AppError, invalid, type Remedy, type Rule, withRemedy } from '../errors.ts'
import { peerOf } from '../transport/peer.ts'
import { isLocal, whatForbids } from './addresses.ts'
import type { AllowList } from './allow-list.ts'

/** A URL that passed all rules that need no DNS lookup. */
export interface Target {
  url: URL
  /** `name:port` in a normalized form, the same for all calls to one host and port. */
  host: string
  /** The host name or literal address in lower case, without brackets and trailing dot. */
  name: string
  port: number
  /** Whether the URL contains an address, which needs no DNS lookup. */
  isAddress: boolean
}

const MAX_URL_LENGTH = 8192
const MAX_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63

/** Checks the parsed URL, in which octal and other spellings are resolved. Throws `invalid`. */
export function checkTarget(raw: string, allow: AllowList): Target {
  const target = locate(parse(raw))
  checkCredentials(raw, target.url)
  if (target.isAddress) checkAddress(target, allow)
  else checkName(target, allow)
  return target
}

/** The error for a URL that must not be called. */
export const refusedUrl = (problem: string, rule: Rule, remedy?: Remedy) =>
  invalid(problem, { field: 'url', rule, remedy })

/** The message for users about a refused call: `URL must be publicly reachable, but …`. */
export const refusalSentence = ({ field, fieldErrors, message }: AppError): string =>
  field === 'url' ? `URL ${withRemedy(fieldErrors[0])}` : message

/** With `isLocal`, the error says how the operator of the server can allow the target. */
export function notPublic(
  what: string,
  { name, port }: Pick<Target, 'name' | 'port'>,
  isLocal: boolean,
) {
  const host = isIP(name) === 6 ? `[${name}]:${port}` : `${name}:${port}`
  const problem = `must be publicly reachable, but ${what}`
  return refusedUrl(problem, 'private_address', isLocal ? allowing(host) : undefined)
}

/** Whoever sends the URL may have no access to the server, so it names its operator. */
const allowing = (host: string): Remedy => ({
  allow: host,
  text: `To allow it, the operator of this server adds allow = ["${host}"] under [outbound] in gatehouse.toml, or sets GATEHOUSE_OUTBOUND_ALLOW=${host}, and restarts Gatehouse`,
})

function parse(raw: string): URL {
  if (raw.length > MAX_URL_LENGTH)
    throw refusedUrl(`must have at most ${MAX_URL_LENGTH} characters`, 'too_long')
  const url = URL.parse(raw)
  if (!url) throw refusedUrl('must be an absolute http or https URL', 'format')
  if (url.protocol === 'http:' || url.protocol === 'https:') return url
  throw refusedUrl(`must start with http or https, not ${url.protocol.slice(0, -1)}`, 'format')
}

function locate(url: URL): Target {
  const { name, port } = peerOf(url)
  if (port === 0) throw refusedUrl('must not have port 0', 'range')
  return {
    url,
    host: `${url.hostname.replace(/\.$/, '')}:${port}`,
    name,
    port,
    isAddress: isIP(name) !== 0,
  }
}

/**
 * Throws `invalid` if the URL contains credentials. The parser drops an empty `user:@`, so the raw
 * text is checked as well.
 */
function checkCredentials(raw: string, url: URL) {
  const authority = /^[^:]*:[\\/\s]*([^\\/?#]*)/.exec(raw)?.[1] ?? ''
  if (url.username === '' && url.password === '' && !authority.includes('@')) return
  throw refusedUrl('must not contain credentials; send them in a header', 'credentials')
}

function checkAddress({ name, port }: Target, allow: AllowList) {
  const what = whatForbids(name, port, allow, false)
  if (what) throw notPublic(`${name} is ${what}`, { name, port }, isLocal(name))
}

function checkName({ name, port }: Target, allow: AllowList) {
  const labels = name.split('.')
  if (labels.some((label) => label.length === 0))
    throw refusedUrl(`must not have an empty label in its host name: ${name}`, 'format')
  if (name.length > MAX_NAME_LENGTH || labels.some((label) => label.length > MAX_LABEL_LENGTH)) {
    throw refusedUrl('must not have a host name that is too long for DNS', 'too_long')
  }
  if (allow.hasName(name, port)) return
  if (labels.at(-1) === 'localhost')
    throw notPublic(`${name} is a loopback hostname`, { name, port }, true)
  if (labels.length === 1)
    throw notPublic(`${name} is a single-label hostname`, { name, port }, true)
}
