import { Resolver } from 'node:dns/promises'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { errorCode } from '../transport/failure.ts'
import type { Resolve, ResolvedAddress } from './resolved-address.ts'

/** Lookups take up to 4.5 seconds with one name server: each try waits twice as long. */
const FIRST_TRY_MS = 1500
const TRIES = 2

/**
 * Resolves names by `/etc/hosts` and `/etc/resolv.conf` without blocking a thread. Ignores other
 * sources in `nsswitch.conf`, such as mDNS.
 *
 * `getaddrinfo` blocks a thread until name servers respond, for 10 seconds or more. There are about
 * as many threads as processors, and they also serve files, hashes and compression: a few names
 * that never resolve would delay all tenants. `Bun.dns.lookup` with c-ares needs no thread, but
 * caches all answers for their TTL, up to an hour and 64 KB each. Each lookup therefore uses a new
 * c-ares resolver, which is discarded with its answer and reads the current `resolv.conf`.
 */
export function createStubResolver({
  hostsFile = '/etc/hosts',
  resolvConf = '/etc/resolv.conf',
  nameServers,
}: {
  hostsFile?: string
  resolvConf?: string
  /** Name servers to use instead of the system's, such as `127.0.0.1:53`. */
  nameServers?: string[]
} = {}): Resolve {
  const hosts = parsedFile(hostsFile, hostsIn)
  const search = parsedFile(resolvConf, searchIn)

  /** If a query failed, rejects with that error rather than with "no such host". */
  async function ask(name: string): Promise<ResolvedAddress[]> {
    const resolver = new Resolver({ timeout: FIRST_TRY_MS, tries: TRIES })
    if (nameServers) resolver.setServers(nameServers)
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const found = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    const reasons = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    if (found.length > 0 || reasons.length === 0) return found.map(resolved)
    throw reasons.find((reason) => !isNotFound(reason)) ?? reasons[0]
  }

  return async (host) => {
    const known = hosts().get(host)
    if (known) return known
    let failure: unknown
    for (const name of candidates(host, search())) {
      try {
        return await ask(name)
      } catch (error) {
        if (!isNotFound(error)) throw error
        failure = error
      }
    }
    throw failure
  }
}

/** Whether an error means that the name doesn't exist or has no address. */
export const isNotFound = (error: unknown): boolean =>
  ['ENOTFOUND', 'ENODATA', 'ENONAME', 'EBADNAME'].includes(errorCode(error).replace(/^DNS_/, ''))

const resolved = (address: string): ResolvedAddress => ({
  address,
  family: isIP(address) === 6 ? 6 : 4,
})

interface Search {
  domains: string[]
  /** Names with fewer dots are tried with the search domains first. */
  ndots: number
}

/** The names to try for a host under the search rules, in order. */
function candidates(host: string, { domains, ndots }: Search): string[] {
  const completed = domains.map((domain) => `${host}.${domain}`)
  const dots = host.split('.').length - 1
  return dots >= ndots ? [host, ...completed] : [...completed, host]
}

/** Parses `resolv.conf`; the last `search` or `domain` line counts. */
function searchIn(text: string): Search {
  const lines = linesIn(text)
  const [, ...domains] = lines.findLast(([key]) => key === 'search' || key === 'domain') ?? []
  const options = lines.filter(([key]) => key === 'options').flat()
  const ndots = options.findLast((option) => option.startsWith('ndots:'))?.slice('ndots:'.length)
  return {
    domains: domains.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== ''),
    ndots: Number(ndots ?? 1),
  }
}

/** Parses a hosts file; names are in lower case. */
function hostsIn(text: string): Map<string, ResolvedAddress[]> {
  const hosts = new Map<string, ResolvedAddress[]>()
  for (const [address = '', ...names] of linesIn(text.toLowerCase())) {
    if (!isIP(address)) continue
    for (const name of names) hosts.set(name, [...(hosts.get(name) ?? []), resolved(address)])
  }
  return hosts
}

/** The words of each line, without comments. */
const linesIn = (text: string): string[][] =>
  text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  )

/** Caches the result until the file changes; a missing file counts as empty. */
function parsedFile<T>(path: string, parse: (text: string) => T): () => T {
  let parsed = parse('')
  let parsedAt: number | undefined
  return () => {
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs
    if (changedAt === parsedAt) return parsed
    parsed = parse(changedAt === undefined ? '' : readFileSync(path, 'utf8'))
    parsedAt = changedAt
    return parsed
  }
}
