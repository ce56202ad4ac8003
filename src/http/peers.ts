/** A server that knows the peer of a connection, as long as the connection is there. */
export interface PeerSource {
  requestIP(request: Request): { address: string } | null
}

const peers = new WeakMap<Request, string>()

/**
 * Writes down where a request came from, before anything is awaited: who sends one and is gone has
 * no address any more. False for one that is gone already, whose answer nobody waits for.
 */
export function notePeer(request: Request, server: PeerSource): boolean {
  const address = server.requestIP(request)?.address
  if (address === undefined) return false
  peers.set(request, address)
  return true
}

/** For a request that stands for another. */
export function passOnPeer(from: Request, to: Request) {
  const address = peers.get(from)
  if (address !== undefined) peers.set(to, address)
}

export const peerOf = (request: Request, server: PeerSource | null): string | undefined =>
  peers.get(request) ?? server?.requestIP(request)?.address
