import { isIP } from 'node:net'

/** The key of all clients without a known address. */
const UNKNOWN = 'unknown'

/**
 * The key of a client in limits per address. An IPv4 address is its own key; an IPv6 address counts
 * as its /64, which one customer usually owns; an IPv4-mapped IPv6 address (RFC 4291 section
 * 2.5.5.2) counts as its IPv4 address. Ports, which some proxies add, are ignored. Undefined and
 * invalid addresses share one key.
 */
export function addressKey(address: string | undefined): string {
  const bare = bareAddress(address ?? '')
  if (isIP(bare) === 4) return bare
  return isIP(bare) === 6 ? networkOf(groupsOf(bare)) : UNKNOWN
}

/** The address without the port and the IPv6 brackets that some proxies add. */
export const bareAddress = (text: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text

/** The eight 16-bit groups of an IPv6 address, without the zone (as in `fe80::1%eth0`). */
function groupsOf(address: string): number[] {
  const [head = [], tail = []] = address
    .replace(/%.*$/s, '')
    .split('::')
    .map((side) => side.split(':').flatMap(groupsIn))
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

/** Two for an embedded IPv4 address, none for empty text next to `::`. */
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
