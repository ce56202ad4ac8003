import { isIP } from 'node:net'
import type { Clock } from '../clock.ts'
import { AppError, invalid } from '../errors.ts'
import { type Call, startCall, type Timings } from '../transport/call.ts'
import type { Dial, Reply } from '../transport/dial.ts'
import { type ConnectionCounts, createExchange } from '../transport/exchange.ts'
import { CallFailure, type FailureReason } from '../transport/failure.ts'
import { isLocal, whatForbids } from './addresses.ts'
import { parseAllowList } from './allow-list.ts'
import { checkEachHeader, isForwardableHeader } from './headers.ts'
import type { Resolve } from './resolved-address.ts'
import { cachedResolve, resolveInTime, systemResolve } from './resolver.ts'
import { checkTarget, notPublic, refusalSentence, type Target } from './url-rules.ts'

export interface OutboundOptions {
  clock: Clock
  /**
   * Allowed targets beyond the public internet: CIDRs, addresses, names and `*.suffix`, each
   * optionally with `:port`.
   */
  allow?: string[]
  /** The default deadline of a call. */
  timeoutMs: number
  /** The default maximum size of a response body. */
  maxResponseBytes: number
  /** The User-Agent for requests without one; if undefined, none is added. */
  userAgent?: string
  /** Replaces the system's resolver and its cache, for tests. */
  resolve?: Resolve
  /** Additional trusted root certificates, PEM. */
  ca?: string | string[]
}

export interface OutboundRequest {
  url: string
  method: string
  headers: Record<string, string>
  body: string | Uint8Array | null
  /** Names of headers with secret values, which a test receiver hides. */
  secretHeaders?: readonly string[]
  timeoutMs?: number
  maxResponseBytes?: number
  signal?: AbortSignal
  /**
   * For targets that must not be called again once they have responded: a call succeeds as soon as
   * the head was read, even if the body is incomplete or `signal` aborts it. `bodyIssue` then
   * says why.
   */
  headIsEnough?: boolean
  /** With `headIsEnough`: maximum time for the body after the head, within `timeoutMs`. */
  bodyTimeoutMs?: number
  /** The tenant that sends the request; its connections and TLS sessions serve no other tenant. */
  tenantId?: string
  /**
   * Whether an idle connection may be used. If it turns out to be closed, the request is sent again
   * on a new one, although the target may have handled it.
   */
  reusesConnection?: boolean
}

/** Any status counts as a reply; an incomplete response doesn't, unless `headIsEnough` is set. */
export type OutboundResult = (
  | ({ replied: true } & Reply)
  | { replied: false; reason: FailureReason; message: string }
) & {
  /** The address that was called; null if there was no call. */
  address: string | null
  timings: Timings
}

export interface Outbound {
  /** Applies the rules that need no DNS. Throws `invalid` with the rule. `host` is `name:port`. */
  checkUrl(raw: string): { url: URL; host: string }
  /**
   * Applies the rules again, resolves the name once, refuses it if any of its addresses is
   * forbidden, and calls a checked address. Follows no redirects. Never rejects because of the
   * target.
   */
  send(request: OutboundRequest): Promise<OutboundResult>
  connections(): ConnectionCounts
  /** Closes connections that are idle, so that the process can end. */
  end(): void
}

/** Calls URLs that tenants chose; all such calls must use it. */
export function createOutbound(options: OutboundOptions): Outbound {
  const { clock, userAgent } = options
  const allow = parseAllowList(options.allow ?? [])
  const resolve = options.resolve ?? cachedResolve(clock, systemResolve)
  const exchange = createExchange(clock, options.ca)

  const checkUrl = (raw: string) => {
    const { url, host } = checkTarget(raw, allow)
    return { url, host }
  }

  async function send(request: OutboundRequest): Promise<OutboundResult> {
    const { timeoutMs = options.timeoutMs, signal } = request
    const call = startCall({ clock, timeoutMs, signal })
    let address: string | null = null
    try {
      const { target, ...checked } = check(request)
      address = await findAddress(target, call)
      const { url, name, port } = target
      const reply = await exchange.send({ ...checked, url, peer: { name, address, port } }, call)
      return { replied: true, ...reply, address, timings: call.timings() }
    } catch (error) {
      return { replied: false, ...asOutcome(error), address, timings: call.timings() }
    } finally {
      call.end()
    }
  }

  /** Makes all checks that need no network. Throws `invalid`. */
  function check(request: OutboundRequest): { target: Target } & Omit<Dial, 'url' | 'peer'> {
    const { maxResponseBytes = options.maxResponseBytes, body } = request
    const { headIsEnough = false, bodyTimeoutMs, tenantId, reusesConnection = false } = request
    return {
      target: checkTarget(request.url, allow),
      method: methodOf(request),
      headers: headersOf(request),
      body: typeof body === 'string' ? Buffer.from(body) : body,
      maxResponseBytes,
      headIsEnough,
      bodyTimeoutMs,
      tenantId,
      reusesConnection: reusesConnection && tenantId !== undefined,
    }
  }

  /** The request's headers without those of the connection, and the default User-Agent. */
  function headersOf({ headers }: OutboundRequest): [string, string][] {
    checkEachHeader(headers)
    const kept = Object.entries(headers).filter(([name]) => isForwardableHeader(name))
    const named = kept.some(([name]) => name.toLowerCase() === 'user-agent')
    return userAgent === undefined || named ? kept : [...kept, ['User-Agent', userAgent]]
  }

  /** The address to call. A name is refused if any of its addresses is forbidden. */
  async function findAddress({ name, port, isAddress }: Target, call: Call): Promise<string> {
    if (isAddress) return name
    call.enter('dns')
    const found = await resolveInTime(clock, resolve, name, call)
    const byName = allow.hasName(name, port)
    for (const { address } of found) {
      const what = whatForbids(address, port, allow, byName)
      if (what)
        throw notPublic(`${name} resolves to ${address}, ${what}`, { name, port }, isLocal(address))
    }
    return preferred(found.map(({ address }) => address))
  }

  return { checkUrl, send, connections: exchange.counts, end: exchange.end }
}

/**
 * The method in upper case. Throws `invalid` for CONNECT, which opens a tunnel, and TRACE, which is
 * for proxies.
 */
function methodOf({ method }: OutboundRequest): string {
  const upper = method.toUpperCase()
  if (/^[A-Z]{1,32}$/.test(upper) && upper !== 'CONNECT' && upper !== 'TRACE') return upper
  throw invalid(`must be a valid HTTP method, not ${JSON.stringify(method)}`, {
    field: 'method',
    rule: 'format',
  })
}

/** Prefers IPv4, because many hosts have an IPv6 address that can't be reached. */
const preferred = (addresses: string[]): string =>
  addresses.find((address) => isIP(address) === 4) ?? (addresses[0] as string)

function asOutcome(error: unknown): { reason: FailureReason; message: string } {
  if (error instanceof CallFailure) return { reason: error.reason, message: error.message }
  if (error instanceof AppError) return { reason: 'refused', message: refusalSentence(error) }
  throw error
}
