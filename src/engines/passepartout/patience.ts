import type { Clock } from '../../platform/clock.ts'
import { COOL_DOWN_MS, MOST_UNAPPROVED, UNAPPROVED_WINDOW_MS } from './limits.ts'
import type { RecentAttempt } from './store/attempts.ts'
import type { Store } from './store/index.ts'

/** All that is looked at of what somebody was asked of late. */
const MOST_RECENT = 100

interface Refusal {
  kind: 'cooling_down' | 'too_many'
  /** When it is over, in milliseconds since the epoch. */
  until: number
}

export type Patience = ReturnType<typeof createPatience>

/**
 * When somebody is not to be asked anything more for now: who is sent one link after the other may
 * end up approving one, to be left in peace.
 */
export function createPatience(parts: {
  clock: Clock
  store: Store
  /** Of attempts: what was opened so long before the cool-down may have been denied within it. */
  lifetimeMs: number
}) {
  const { clock, store, lifetimeMs } = parts
  const lookBackMs = Math.max(COOL_DOWN_MS + lifetimeMs, UNAPPROVED_WINDOW_MS)

  function refusalOf(botId: string, personId: string): Refusal | undefined {
    const now = clock.now()
    const recent = store.attempts.recent(botId, personId, now - lookBackMs, MOST_RECENT)
    const until = Math.max(...recent.map(restUntil))
    if (until > now) return { kind: 'cooling_down', until }
    const room = recent.flatMap(roomAgainAt).filter((at) => at > now)
    const next = room[MOST_UNAPPROVED - 1]
    return next === undefined ? undefined : { kind: 'too_many', until: next }
  }

  return { refusalOf, lookBackMs }
}

/** Whoever has denied, or tapped a number that was not theirs. */
const restUntil = ({ state, endedAt }: RecentAttempt): number =>
  state === 'denied' || state === 'mismatched' ? (endedAt ?? 0) + COOL_DOWN_MS : 0

/** When one that was opened and not approved no longer counts. */
const roomAgainAt = ({ state, openedAt }: RecentAttempt): number[] =>
  state === 'approved' || openedAt === null ? [] : [openedAt + UNAPPROVED_WINDOW_MS]
