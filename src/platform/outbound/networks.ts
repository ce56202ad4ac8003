import { BlockList, isIP } from 'node:net'

/** A block of addresses in CIDR notation; a single address is a block of one. */
export interface Network {
  family: 4 | 6
  /** The prefix length; longer ones are more specific. */
  prefix: number
  /** Whether the block contains `address`, which must be of the same family. */
  contains(address: string): boolean
}

/** Parses `10.0.0.0/8`, `10.0.0.1`, `fd00::/8` or `::1`; undefined for any other text. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if ((family !== 4 && family !== 6) || address.includes('%') || rest.length > 0) return undefined
  const longest = family === 4 ? 32 : 128
  if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return undefined
  const prefix = bits === undefined ? longest : Number(bits)
  return prefix > longest ? undefined : network(family, address, prefix)
}

function network(family: 4 | 6, address: string, prefix: number): Network {
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  const block = new BlockList()
  block.addSubnet(address, prefix, kind)
  return { family, prefix, contains: (candidate) => block.check(candidate, kind) }
}
