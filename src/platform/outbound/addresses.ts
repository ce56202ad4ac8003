import { isIP } from 'node:net'
import type { AllowList } from './allow-list.ts'
import { type Network, parseNetwork } from './networks.ts'

interface AddressRule extends Network {
  /** A description for error messages; undefined for public addresses. */
  what: string | undefined
  /** Whether an operator's services may have them; allow-listed host names can resolve to them. */
  local: boolean
}

const LOCAL_RANGES: [what: string, ...networks: string[]][] = [
  ['a loopback address', '127.0.0.0/8', '::1'],
  ['a private address', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
  ['a shared address (carrier or overlay network)', '100.64.0.0/10'],
  // Local host names (mDNS) often resolve to a link-local address next to the private one.
  ['a link-local address', 'fe80::/10'],
]

/**
 * The rules for addresses outside local networks. IPv4 is public except for these blocks. In IPv6,
 * only 2000::/3 is assigned, and some blocks inside it embed or represent other addresses.
 */
const SPECIAL_RANGES: [what: string | undefined, ...networks: string[]][] = [
  [undefined, '0.0.0.0/0', '2000::/3'],
  ['not a public address', '::/0'],
  ['an unspecified address', '0.0.0.0/8', '::'],
  ['a link-local address', '169.254.0.0/16'],
  ['a link-local address (cloud metadata)', '169.254.169.254', 'fe80::a9fe:a9fe'],
  [
    'a cloud metadata address',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
  ],
  ['a multicast address', '224.0.0.0/4', 'ff00::/8'],
  ['a broadcast address', '255.255.255.255'],
  [
    'a reserved address',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24',
    '192.175.48.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '240.0.0.0/4',
    'fec0::/10',
    '2001::/23',
    '2001:db8::/32',
    '2620:4f:8000::/48',
    '3fff::/20',
  ],
  [
    'an address that wraps an IPv4 address',
    '::/96',
    '::ffff:0:0/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '2002::/16',
  ],
]

const RULES: AddressRule[] = [
  ...LOCAL_RANGES.flatMap(([what, ...networks]) => networks.map(rule(what, true))),
  ...SPECIAL_RANGES.flatMap(([what, ...networks]) => networks.map(rule(what, false))),
].sort((a, b) => b.prefix - a.prefix)

function rule(what: string | undefined, local: boolean) {
  return (text: string): AddressRule => {
    const network = parseNetwork(text)
    if (!network) throw new Error(`not a network: ${text}`)
    return { ...network, what, local }
  }
}

/**
 * Returns a phrase such as "a private address". The most specific network decides; on a tie, the
 * allow list does. A host name on it opens local ranges, but never others such as cloud metadata.
 */
export function whatForbids(
  address: string,
  port: number,
  allow: AllowList,
  byName: boolean,
): string | undefined {
  const rule = ruleOf(address)
  if (!rule) return 'not an IP address'
  if (rule.what === undefined || (byName && rule.local)) return undefined
  return allow.prefixFor(address, port) >= rule.prefix ? undefined : rule.what
}

/** Whether an operator may have services of their own at an address. */
export const isLocal = (address: string): boolean => ruleOf(address)?.local ?? false

const MAX_KNOWN = 1000
const known = new Map<string, AddressRule | undefined>()

/** The most specific rule, remembered because finding it takes longer than the rest of a call's checks. */
function ruleOf(address: string): AddressRule | undefined {
  if (known.has(address)) return known.get(address)
  const family = isIP(address)
  const rule = RULES.find((each) => each.family === family && each.contains(address))
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(address, rule)
  return rule
}
