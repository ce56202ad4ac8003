import { Resolver } from 'node:dns/promises'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { errorCode } from './failure.ts'
import type { Resolve, ResolvedAddress } from './resolved-address.ts'

/** With one name server, 4.5 seconds in all: each try waits twice as long as the one before. */
const FIRST_TRY_MS = 1500
const TRIES = 2

/**
 * Looks names up as `/etc/hosts` and `/etc/resolv.conf` say, without a thread. Asks no other source
 * that `nsswitch.conf` may name, such as mDNS.
 *
 * `getaddrinfo` keeps a thread until name servers have answered, or for 10 seconds and more. There are
 * about as many threads as processors, for files, hashes and compression, too: a few names that never
 * resolve would hold up all tenants. `Bun.dns.lookup` by c-ares needs no thread, but keeps all answers
 * for as long as they say, up to an hour and 64 KB each. So each look-up has a c-ares of its own, which
 * is gone with its answer and reads `resolv.conf` as it is now.
 */
export function createStubResolver({
  hostsFile = '/etc/hosts',
  resolvConf = '/etc/resolv.conf',
  nameServers,
}: {
  hostsFile?: string
  resolvConf?: string
  /** Asked in place of those in the system's configuration, such as `127.0.0.1:53`. */
  nameServers?: string[]
} = {}): Resolve {
  const hosts = parsedFile(hostsFile, hostsIn)
  const search = parsedFile(resolvConf, searchIn)

  /** Rejects with what kept a name server from answering, rather than with "no such host". */
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

/** Whether the name servers have answered, and know no address of the name. */
export const isNotFound = (error: unknown): boolean =>
  ['ENOTFOUND', 'ENODATA', 'ENONAME', 'EBADNAME'].includes(errorCode(error).replace(/^DNS_/, ''))

const resolved = (address: string): ResolvedAddress => ({
  address,
  family: isIP(address) === 6 ? 6 : 4,
})

interface Search {
  domains: string[]
  /** Names with fewer dots are tried in the domains first. */
  ndots: number
}

/** A host name as the search rules complete it, in the order in which to try. */
function candidates(host: string, { domains, ndots }: Search): string[] {
  const completed = domains.map((domain) => `${host}.${domain}`)
  const dots = host.split('.').length - 1
  return dots >= ndots ? [host, ...completed] : [...completed, host]
}

/** Of several `search` and `domain` lines, the last counts. */
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

/** The addresses of each name, in lower case. */
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

/** Reads a file again once it has changed. A file that is missing counts as empty. */
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
