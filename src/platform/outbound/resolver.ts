import { lookup } from 'node:dns/promises'
import type { Clock } from '../clock.ts'
import { type Call, untilCut } from '../transport/call.ts'
import { CallFailure, errorCode } from '../transport/failure.ts'
import type { Resolve, ResolvedAddress } from './resolved-address.ts'
import { createStubResolver, isNotFound } from './stub-resolver.ts'

const KEPT_MS = 30_000
const MAX_KEPT = 1000
/** Limits the size of cache entries, because name servers can return thousands of addresses. */
const MAX_ADDRESSES = 100
const MAX_LOOKUP_MS = 5000

const lookUp: Resolve = async (host) => {
  const found = await lookup(host, { all: true })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

/** Resolves like the system, with `/etc/hosts`. Blocks no thread; on macOS, `lookup` needs none. */
export const systemResolve: Resolve = process.platform === 'darwin' ? lookUp : createStubResolver()

/** For half a minute, so that a burst of jobs makes one query per host. Failures aren't cached. */
export function cachedResolve(clock: Clock, resolve: Resolve): Resolve {
  const kept = new Map<string, { until: number; answer: Promise<ResolvedAddress[]> }>()

  function ask(host: string) {
    const answer = resolve(host).then((addresses) => requireFew(addresses, host))
    kept.delete(host)
    kept.set(host, { until: clock.monotonic() + KEPT_MS, answer })
    dropOldest()
    answer.catch(() => forget(host, answer))
    return answer
  }

  function dropOldest() {
    for (const host of kept.keys()) {
      if (kept.size <= MAX_KEPT) return
      kept.delete(host)
    }
  }

  function forget(host: string, answer: Promise<ResolvedAddress[]>) {
    if (kept.get(host)?.answer === answer) kept.delete(host)
  }

  return (host) => {
    const known = kept.get(host)
    return known && known.until > clock.monotonic() ? known.answer : ask(host)
  }
}

function requireFew(addresses: ResolvedAddress[], host: string): ResolvedAddress[] {
  if (addresses.length <= MAX_ADDRESSES) return addresses
  throw failed(`${host} has more than ${MAX_ADDRESSES} addresses`)
}

/** Rejects with `CallFailure` for every error of the resolver and at the deadline. */
export async function resolveInTime(
  clock: Clock,
  resolve: Resolve,
  host: string,
  call: Call,
): Promise<ResolvedAddress[]> {
  let cancel = () => {}
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(MAX_LOOKUP_MS, () => reject(failed(`no response for ${host} in time`)))
  })
  try {
    const addresses = await untilCut(call, Promise.race([resolve(host), late]))
    if (addresses.length === 0) throw failed(`${host} has no address`)
    return addresses
  } catch (error) {
    throw error instanceof CallFailure ? error : failed(reasonOf(error, host))
  } finally {
    cancel()
  }
}

const failed = (what: string) => new CallFailure('dns', `DNS lookup failed: ${what}`)

/** A resolver's error in words for users. */
function reasonOf(error: unknown, host: string): string {
  if (isNotFound(error)) return `no such host ${host}`
  const code = errorCode(error)
  return NO_ANSWER.has(code) ? `the name server did not respond for ${host}` : `${host} (${code})`
}

const NO_ANSWER = new Set(['EAI_AGAIN', 'ESERVFAIL', 'ETIMEOUT', 'ECONNREFUSED', 'EREFUSED'])
