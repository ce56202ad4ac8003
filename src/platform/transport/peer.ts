/** The other end of a call. */
export interface Peer {
  /** The host name or literal address in lower case, without brackets and trailing dot. */
  name: string
  /** The address to connect to, or a name for the system to resolve. */
  address: string
  port: number
}

/** The peer of a URL if the system resolves its name. */
export function peerOf({ hostname, protocol, port }: URL): Peer {
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  const usualPort = protocol === 'https:' ? 443 : 80
  return { name: address.replace(/\.$/, ''), address, port: port === '' ? usualPort : Number(port) }
}
