import type { BoundedFetch } from '../../../../platform/bounded-fetch.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { MINUTE_MS } from '../../../../platform/durations.ts'

const KEPT_MS = 5 * MINUTE_MS
const MIN_KEPT_MS = MINUTE_MS

/** Cached signing keys of providers. */
export interface KeySets {
  /** The response of `url`, or a recent copy of it. */
  fetch: BoundedFetch
  /** Whether to reread the set for an unknown key; not soon after a read, to spare the provider. */
  renew(url: string): boolean
}

/** Caches one set per URL. URLs come from the configuration, so there are few. */
export function createKeySets(clock: Clock, call: BoundedFetch): KeySets {
  const kept = new Map<string, { at: number; text: string }>()
  const ageOf = ({ at }: { at: number }) => clock.monotonic() - at

  return {
    fetch: async (url, init) => {
      const known = kept.get(url)
      if (known && ageOf(known) < KEPT_MS) return asJson(known.text)
      const response = await call(url, init)
      if (response.status !== 200) return response
      const text = await response.text()
      kept.set(url, { at: clock.monotonic(), text })
      return asJson(text)
    },
    renew(url) {
      const known = kept.get(url)
      if (known && ageOf(known) < MIN_KEPT_MS) return false
      return kept.delete(url)
    },
  }
}

const asJson = (text: string) =>
  new Response(text, { headers: { 'content-type': 'application/json' } })
