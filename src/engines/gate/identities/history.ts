import type { Delivery } from '../../../delivery/index.ts'
import type { EventRow } from '../../../delivery/store/read-model.ts'
import type { Actor, Audit } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Clock } from '../../../platform/clock.ts'
import { type Device, deviceOf } from '../../../platform/device.ts'
import { HOUR_MS } from '../../../platform/durations.ts'
import { END } from '../../../platform/scan.ts'
import type { AuthenticationMethod } from '../sessions/model.ts'
import type { SessionRow } from '../sessions/store.ts'
import type { Store } from '../store.ts'
import { type EventType, webhookStream } from '../webhooks/events.ts'

/** An event in the life of an identity. */
export type Happening =
  | {
      kind: 'signed_in'
      at: number
      methods: string[]
      device: Device | null
      ipAddress: string | null
    }
  | { kind: 'event'; at: number; type: string; payload: Record<string, string> }
  | { kind: 'done'; at: number; action: string; actor: Actor; detail: Record<string, unknown> }

/** Counts of events per hour. */
export interface Frequency {
  /** Counts of consecutive hours; the last one is the current hour. */
  hours: number[]
  /** Whether a count reached its limit. */
  isCut: boolean
}

/** Maximum number of entries per source. The audit log and the webhook log have more. */
const MAX = 15
const HOURS = 24
/** Maximum count per hour, enough for a chart. */
const MAX_PER_HOUR = 1000

/** Events that the session log and the audit log report in more detail. */
const REPORTED_TYPES: ReadonlySet<string> = new Set<EventType>([
  'identity.login',
  'identity.state_changed',
])

/** The history of an identity, from its sessions, its webhook events and the audit log. */
export function createHistory(parts: {
  clock: Clock
  audit: Audit
  store: Store
  delivery: Pick<Delivery, 'messages' | 'queries'>
}) {
  const { clock, audit, store, delivery } = parts

  /** The latest entries, newest first. */
  function of({ tenantId }: Caller, identityId: string): Happening[] {
    const events = delivery.queries
      .about(tenantId, identityId, MAX)
      .filter(({ type }) => !REPORTED_TYPES.has(type))
    const done = audit.about(tenantId, `identity:${identityId}`, { limit: MAX })
    const isCreationDone = done.some(({ action }) => action === CREATED)
    const happenings: Happening[] = [
      ...store.sessions.recent(tenantId, identityId, MAX).map(signIn),
      ...events.filter(({ type }) => type !== CREATED || !isCreationDone).map(eventEntry),
      ...done.map(({ at, action, actor, detail }) => ({
        kind: 'done' as const,
        at,
        action,
        actor,
        detail,
      })),
    ]
    return happenings.toSorted((one, other) => other.at - one.at).slice(0, MAX)
  }

  /** Counts of the last day. */
  function frequency({ tenantId }: Pick<Caller, 'tenantId'>, type: EventType): Frequency {
    const stream = webhookStream(tenantId)
    const now = clock.now()
    const first = now - (now % HOUR_MS) - (HOURS - 1) * HOUR_MS
    const bounds = Array.from({ length: HOURS }, (_, index) =>
      delivery.messages.seqAt(first + index * HOUR_MS),
    )
    const hours = bounds.map((after, index) => {
      const upTo = bounds[index + 1] ?? END
      return delivery.queries.countOfType(stream, type, { after, upTo, limit: MAX_PER_HOUR })
    })
    return { hours, isCut: hours.some((count) => count === MAX_PER_HOUR) }
  }

  return { of, frequency }
}

const CREATED: EventType = 'identity.created'

const signIn = ({ issuedAt, methods, userAgent, ipAddress }: SessionRow): Happening => ({
  kind: 'signed_in',
  at: issuedAt,
  methods: (JSON.parse(methods) as AuthenticationMethod[]).map(({ method }) => method),
  device: deviceOf(userAgent),
  ipAddress,
})

const eventEntry = ({ acceptedAt, type, payload }: EventRow): Happening => ({
  kind: 'event',
  at: acceptedAt,
  type,
  payload: JSON.parse(payload).data.payload,
})
