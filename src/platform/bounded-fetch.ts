import type { Clock } from './clock.ts'
import { startCall } from './transport/call.ts'
import type { Dial } from './transport/dial.ts'
import { createExchange } from './transport/exchange.ts'
import { CallFailure, trustedFailure } from './transport/failure.ts'
import { peerOf } from './transport/peer.ts'

/**
 * A fetch with limits on time and size. The body of the response has already been read completely.
 * Rejects with `CallFailure`, whose message contains at most the host.
 */
export type BoundedFetch = (
  url: string,
  init?: Init & {
    /** Aborts the call. */
    signal?: AbortSignal
  },
) => Promise<Response>

interface Init {
  method?: string
  headers?: Record<string, string>
  body?: string | URLSearchParams | null
}

export interface BoundedFetchOptions {
  clock: Clock
  /** The deadline of the whole call, from the DNS lookup to the last byte. */
  timeoutMs?: number
  maxBodyBytes?: number
  /** Additional trusted root certificates, PEM. */
  ca?: string | string[]
}

const USUAL_TIMEOUT_MS = 10_000
const USUAL_BODY_BYTES = 1_000_000

/**
 * A fetch for addresses that the operator configured or that are built in. It doesn't use the rules
 * of `outbound`, which keep tenants' calls out of the operator's network, because an operator's own
 * services, such as GitLab, may be in that network.
 *
 * Redirects are not followed, because they could send a secret to any address. Compression is
 * neither requested nor decoded, so the size limit applies to the bytes in memory.
 */
export function createBoundedFetch(options: BoundedFetchOptions): BoundedFetch {
  const { clock, timeoutMs = USUAL_TIMEOUT_MS, maxBodyBytes = USUAL_BODY_BYTES } = options
  const exchange = createExchange(clock, options.ca)

  return async (url, { signal, ...init } = {}) => {
    const call = startCall({ clock, timeoutMs, signal })
    try {
      const { status, headers, body, truncated } = await exchange.send(
        dial(url, init, maxBodyBytes),
        call,
      )
      if (truncated) throw new CallFailure('too_large', 'the answer is too large')
      return new Response(body.length === 0 ? null : new Uint8Array(body), { status, headers })
    } catch (error) {
      throw trustedFailure(error, url)
    } finally {
      call.end()
    }
  }
}

function dial(text: string, { method = 'GET', ...init }: Init, maxResponseBytes: number): Dial {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw new CallFailure('refused', 'not an HTTP URL')
  return {
    url,
    peer: peerOf(url),
    method: method.toUpperCase(),
    headers: headersOf(init),
    body: init.body ? Buffer.from(init.body.toString()) : null,
    maxResponseBytes,
    refusesRedirects: true,
  }
}

/** The headers of a request, without those that the transport sets itself. */
function headersOf({ headers: given, body }: Init): Headers {
  const headers = new Headers(given)
  headers.delete('host')
  headers.delete('content-length')
  headers.set('accept-encoding', 'identity')
  if (body instanceof URLSearchParams && !headers.has('content-type'))
    headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8')
  return headers
}
