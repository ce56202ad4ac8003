export interface ResolvedAddress {
  address: string
  family: 4 | 6
}

/** Every address of a host name. Rejects when there is none. */
export type Resolve = (host: string) => Promise<ResolvedAddress[]>
