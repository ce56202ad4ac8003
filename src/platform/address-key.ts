import { isIP } from 'node:net'

/** All whose address is not known count as one. */
const UNKNOWN = 'unknown'

/**
 * Who is counted as one by a limit for each address. An IPv4 address by itself; an IPv6 address
 * with its /64, which a single customer has all of; an IPv4 address wrapped in IPv6 (RFC 4291
 * section 2.5.5.2) as what it wraps. A port is left out, as some proxies write one. Undefined, and
 * text that is no address, are all the same key.
 */
export function addressKey(address: string | undefined): string {
  const bare = bareAddress(address ?? '')
  if (isIP(bare) === 4) return bare
  return isIP(bare) === 6 ? networkOf(groupsOf(bare)) : UNKNOWN
}

/** Some proxies write a port, and brackets around an IPv6 address. */
export const bareAddress = (text: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text

/** The eight groups of 16 bits. A zone, as in `fe80::1%eth0`, is of no matter. */
function groupsOf(address: string): number[] {
  const [head = [], tail = []] = address
    .replace(/%.*$/s, '')
    .split('::')
    .map((side) => side.split(':').flatMap(groupsIn))
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

/** Two where the last 32 bits are spelled as IPv4 is; none beside a `::` at either end. */
function groupsIn(text: string): number[] {
  if (text === '') return []
  if (!text.includes('.')) return [Number.parseInt(text, 16)]
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
  return [(a << 8) | b, (c << 8) | d]
}

function networkOf(groups: number[]): string {
  const isWrapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isWrapped) return groups.slice(6).flatMap(bytesOf).join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

const bytesOf = (group: number): number[] => [group >> 8, group & 0xff]
