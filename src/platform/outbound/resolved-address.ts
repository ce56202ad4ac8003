export interface ResolvedAddress {
  address: string
  family: 4 | 6
}

/** Resolves a host name to all its addresses; rejects if there are none. */
export type Resolve = (host: string) => Promise<ResolvedAddress[]>
