import { isIP } from 'node:net'
import type { Clock } from '../clock.ts'
import { AppError, invalid } from '../errors.ts'
import { isLocal, whatForbids } from './addresses.ts'
import { parseAllowList } from './allow-list.ts'
import { type Call, startCall, type Timings } from './call.ts'
import { createExchange, type Dial } from './exchange.ts'
import { CallFailure, type FailureReason } from './failure.ts'
import { checkEachHeader, isForwardableHeader } from './headers.ts'
import type { Resolve } from './resolved-address.ts'
import { cachedResolve, resolveInTime, systemResolve } from './resolver.ts'
import { checkTarget, notPublic, refusalSentence, type Target } from './url-rules.ts'

export interface OutboundOptions {
  clock: Clock
  /** Places beyond the public internet: CIDRs, addresses, names, `*.suffix`; each `:port` or not. */
  allow?: string[]
  /** Default deadline over the whole call. */
  timeoutMs: number
  /** Default cap on the bytes of an answer's body. */
  maxResponseBytes: number
  /** Sent where the request has none of its own. Without it no User-Agent is added. */
  userAgent?: string
  /** Takes the place of the system's resolver and its cache. */
  resolve?: Resolve
  /** Roots trusted beside the usual ones, PEM. */
  ca?: string | string[]
}

export interface OutboundRequest {
  url: string
  method: string
  headers: Record<string, string>
  body: string | Uint8Array | null
  timeoutMs?: number
  maxResponseBytes?: number
  signal?: AbortSignal
  /**
   * For a target that must not be asked twice once it has answered: as soon as the head has been
   * read there is a reply, however its body ends, also by `signal`. `bodyTrouble` tells of it.
   */
  headIsEnough?: boolean
  /** With `headIsEnough`: the longest time for the body after the head, within `timeoutMs`. */
  bodyTimeoutMs?: number
}

/**
 * What a call came to. A reply of any status is a reply; half of one is not, unless the request
 * says that its head is enough.
 */
export type OutboundResult = (
  | {
      replied: true
      status: number
      headers: [name: string, value: string][]
      /** As sent by the target: not decompressed. */
      body: Uint8Array
      /** Bytes are missing at the end: over the limit, or, with trouble, they never arrived. */
      truncated: boolean
      /** With `headIsEnough`: what kept the body from its end, as a sentence. Else null. */
      bodyTrouble: string | null
    }
  | { replied: false; reason: FailureReason; message: string }
) & {
  /** The address that was dialled; null when it did not come to that. */
  address: string | null
  timings: Timings
}

export interface Outbound {
  /**
   * Applies the rules that need no look-up. Throws `invalid` with a sentence that names the
   * rule. `host` is `name:port`, the same for all calls to one place.
   */
  checkUrl(raw: string): { url: URL; host: string }
  /**
   * Checks again, resolves once, refuses when any address is forbidden, and calls a checked
   * address. Follows no redirect. Resolves whatever the target does.
   */
  send(request: OutboundRequest): Promise<OutboundResult>
}

/** The one way out to addresses that somebody else chose. */
export function createOutbound(options: OutboundOptions): Outbound {
  const { clock, userAgent } = options
  const allow = parseAllowList(options.allow ?? [])
  const resolve = options.resolve ?? cachedResolve(clock, systemResolve)
  const exchange = createExchange([options.ca ?? []].flat())

  const checkUrl = (raw: string) => {
    const { url, host } = checkTarget(raw, allow)
    return { url, host }
  }

  async function send(request: OutboundRequest): Promise<OutboundResult> {
    const { timeoutMs = options.timeoutMs, signal } = request
    const call = startCall({ clock, timeoutMs, signal })
    let address: string | null = null
    try {
      const checked = check(request)
      address = await findAddress(checked.target, call)
      const reply = await exchange({ ...checked, address }, call)
      return { replied: true, ...reply, address, timings: call.timings() }
    } catch (error) {
      return { replied: false, ...asOutcome(error), address, timings: call.timings() }
    } finally {
      call.end()
    }
  }

  /** Everything that can be said without the network. Throws `invalid`. */
  function check(request: OutboundRequest): Omit<Dial, 'address'> {
    const { maxResponseBytes = options.maxResponseBytes, body } = request
    const { headIsEnough = false, bodyTimeoutMs } = request
    return {
      target: checkTarget(request.url, allow),
      method: methodOf(request),
      headers: headersOf(request),
      body: typeof body === 'string' ? Buffer.from(body) : body,
      maxResponseBytes,
      headIsEnough,
      bodyTimeoutMs,
    }
  }

  /** Only what the job says, less what belongs to the connection. */
  function headersOf({ headers }: OutboundRequest): [string, string][] {
    checkEachHeader(headers)
    const kept = Object.entries(headers).filter(([name]) => isForwardableHeader(name))
    const named = kept.some(([name]) => name.toLowerCase() === 'user-agent')
    return userAgent === undefined || named ? kept : [...kept, ['User-Agent', userAgent]]
  }

  /** The address to dial. One forbidden address among many refuses the name as a whole. */
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

  return { checkUrl, send }
}

/** CONNECT would make a tunnel of the call, TRACE is for proxies. */
function methodOf({ method }: OutboundRequest): string {
  const upper = method.toUpperCase()
  if (/^[A-Z]{1,32}$/.test(upper) && upper !== 'CONNECT' && upper !== 'TRACE') return upper
  throw invalid(`must be a method that can be sent, not ${JSON.stringify(method)}`, {
    field: 'method',
    rule: 'format',
  })
}

/** IPv4 first: hosts with an IPv6 address but no route to it are common. */
const preferred = (addresses: string[]): string =>
  addresses.find((address) => isIP(address) === 4) ?? (addresses[0] as string)

function asOutcome(error: unknown): { reason: FailureReason; message: string } {
  if (error instanceof CallFailure) return { reason: error.reason, message: error.message }
  if (error instanceof AppError) return { reason: 'refused', message: refusalSentence(error) }
  throw error
}
