import type { Clock } from '../clock.ts'

/** Short, because a certificate that has expired since then isn't noticed. */
const KEPT_MS = 10 * 60_000
const MAX_KEPT = 1000

export type TlsSessions = ReturnType<typeof createTlsSessions>

/** TLS sessions by target, with which the next handshake needs no certificate. */
export function createTlsSessions(clock: Clock) {
  const kept = new Map<string, { session: Buffer; verifiedAt: number }>()

  /** The newest session of a target. */
  function find(target: string) {
    const found = kept.get(target)
    if (!found || clock.monotonic() - found.verifiedAt < KEPT_MS) return found
    kept.delete(target)
    return undefined
  }

  /** `verifiedAt` is when the certificate was verified, which a resumed session keeps. */
  function keep(target: string, session: Buffer, verifiedAt: number) {
    kept.delete(target)
    kept.set(target, { session, verifiedAt })
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) return
      kept.delete(oldest)
    }
  }

  const forget = (target: string) => void kept.delete(target)

  return { find, keep, forget }
}
