import { BlockList, isIP } from 'node:net'
import { bareAddress } from '../platform/address-key.ts'
import { type PeerSource, peerOf } from './peers.ts'

export type ClientAddress = (request: Request, server: PeerSource | null) => string | undefined

/**
 * Uses `X-Forwarded-For` only from a trusted proxy, read from the right up to the first address
 * that is not one. The client could have written anything further to the left.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = blockListOf(trustedProxies)
  const isTrusted = (address: string) =>
    trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

  return (request, server) => {
    const peer = peerOf(request, server)
    if (peer === undefined || trustedProxies.length === 0 || !isTrusted(peer)) return peer
    const forwarded = request.headers.get('x-forwarded-for') ?? ''
    const hops = forwarded.split(',').map((hop) => bareAddress(hop.trim()))
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
