/** A server that knows the peer's address while the connection is open. */
export interface PeerSource {
  requestIP(request: Request): { address: string } | null
}

const peers = new WeakMap<Request, string>()

/** Stores the address before anything is awaited. False if the connection is already closed. */
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
