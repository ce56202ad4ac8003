import { BlockList, isIP } from 'node:net'

/** The parts of a server that know the peer of a connection. */
export interface PeerSource {
  requestIP(request: Request): { address: string } | null
}

export type ClientAddress = (request: Request, server: PeerSource | null) => string | undefined

/**
 * Who sent a request. `X-Forwarded-For` counts only when the peer is a trusted proxy, and
 * then from the right: the first address that is not itself a trusted proxy. Anything
 * further left was written by the client.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = blockListOf(trustedProxies)
  const isTrusted = (address: string) =>
    trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

  return (request, server) => {
    const peer = server?.requestIP(request)?.address
    if (peer === undefined || trustedProxies.length === 0 || !isTrusted(peer)) return peer
    const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').map((hop) => hop.trim())
    return hops.findLast((hop) => !(isIP(hop) && isTrusted(hop))) || peer
  }
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}
