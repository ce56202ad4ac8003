import type { Peer } from './peer.ts'
import type { CollectedBody } from './response-reader.ts'

/** A checked request and the peer to send it to. */
export interface Dial {
  url: URL
  peer: Peer
  /** In upper case. */
  method: string
  headers: Iterable<[name: string, value: string]>
  body: Uint8Array | null
  maxResponseBytes: number
  /** Whether the head of the response is enough and the body may be incomplete. */
  headIsEnough?: boolean
  /** With `headIsEnough`: maximum time for the body after the head. */
  bodyTimeoutMs?: number | undefined
  /** Whether a redirect is a failure, whose body is not read. */
  refusesRedirects?: boolean
  /** The tenant that sends the request. Its connections and TLS sessions are used for no other. */
  tenantId?: string | undefined
  /**
   * Whether an idle connection of the tenant may be used, and this one kept. If a reused connection
   * breaks before a response, the request is sent a second time.
   */
  reusesConnection?: boolean
}

export interface Reply extends CollectedBody {
  status: number
  headers: [name: string, value: string][]
}
