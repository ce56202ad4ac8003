import type { Clock } from '../../platform/clock.ts'
import { COOL_DOWN_MS, MAX_UNAPPROVED, UNAPPROVED_WINDOW_MS } from './limits.ts'
import type { RecentAttempt } from './store/attempts.ts'
import type { Store } from './store/index.ts'

/** Maximum number of recent attempts considered per user. */
const MAX_RECENT = 100

interface Refusal {
  kind: 'cooling_down' | 'too_many'
  /** When it ends, in milliseconds since the epoch. */
  until: number
}

export type Throttle = ReturnType<typeof createThrottle>

/** Limits prompts, because users might approve one just to stop them. */
export function createThrottle(parts: {
  clock: Clock
  store: Store
  /** An attempt opened this long before a cool-down may have been denied within it. */
  lifetimeMs: number
}) {
  const { clock, store, lifetimeMs } = parts
  const windowMs = Math.max(COOL_DOWN_MS + lifetimeMs, UNAPPROVED_WINDOW_MS)

  function refusalOf(botId: string, personId: string): Refusal | undefined {
    const now = clock.now()
    const recent = store.attempts.recent(botId, personId, now - windowMs, MAX_RECENT)
    const until = Math.max(...recent.map(restUntil))
    if (until > now) return { kind: 'cooling_down', until }
    const room = recent.flatMap(roomAgainAt).filter((at) => at > now)
    const next = room[MAX_UNAPPROVED - 1]
    return next === undefined ? undefined : { kind: 'too_many', until: next }
  }

  return { refusalOf, windowMs }
}

/** The end of the cool-down after a denial or a wrong number. */
const restUntil = ({ state, endedAt }: RecentAttempt): number =>
  state === 'denied' || state === 'mismatched' ? (endedAt ?? 0) + COOL_DOWN_MS : 0

/** When an opened, unapproved attempt no longer counts. */
const roomAgainAt = ({ state, openedAt }: RecentAttempt): number[] =>
  state === 'approved' || openedAt === null ? [] : [openedAt + UNAPPROVED_WINDOW_MS]
