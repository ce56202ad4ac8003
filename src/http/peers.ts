/** A server that knows the peer's address while the connection is open. */
export interface PeerSource {
  requestIP(request: Request): { address: string } | null
}

const peers = new WeakMap<Request, string>()

/**
 * Stores the client's address before anything is awaited, because a closed connection has no
 * address. Returns false if the connection is already closed, so that no response is needed.
 */
export function notePeer(request: Request, server: PeerSource): boolean {
  const address = server.requestIP(request)?.address
  if (address === undefined) return false
  peers.set(request, address)
  return true
}

/** Copies the address to a request made on behalf of another. */
export function passOnPeer(from: Request, to: Request) {
  const address = peers.get(from)
  if (address !== undefined) peers.set(to, address)
}

export const peerOf = (request: Request, server: PeerSource | null): string | undefined =>
  peers.get(request) ?? server?.requestIP(request)?.address
