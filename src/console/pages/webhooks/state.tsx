import { useHere } from '../../../../views/ui/here.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { minuteIn, Time, timeAttributes } from '../../../../views/ui/time.tsx'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'
import type { Status } from '../../../http/delivery-log/model.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { usePage } from '../../page.tsx'

/**
 * The states of endpoints, and of webhooks of user events, in the order of lists. `stopped` endpoints were
 * disabled by Gatehouse, `paused` ones by an operator or an API key.
 */
export const ENDPOINT_STATES = ['failing', 'stopped', 'active', 'paused'] as const
export type EndpointState = (typeof ENDPOINT_STATES)[number]

/** Fields that determine the state of an endpoint. */
type EndpointStatus = Pick<Endpoint, 'active' | 'disabled_reason' | 'health'>

export function stateOf({
  active,
  disabled_reason: reason,
  health,
}: EndpointStatus): EndpointState {
  if (!active) return reason === 'manual' ? 'paused' : 'stopped'
  return health.failing_since === null ? 'active' : 'failing'
}

/** Number of endpoints by state. */
export function countsOf(states: readonly EndpointState[]): Record<EndpointState, number> {
  const counts = { active: 0, failing: 0, paused: 0, stopped: 0 }
  for (const state of states) counts[state]++
  return counts
}

export const ENDPOINT_TONES: Record<EndpointState, Tone> = {
  active: 'good',
  failing: 'bad',
  paused: 'quiet',
  stopped: 'bad',
}

/** Names of the states for people. */
export const ENDPOINT_WORDS: Record<EndpointState, string> = {
  active: 'active',
  failing: 'failing',
  paused: 'paused',
  stopped: 'disabled',
}

export const EndpointBadge = ({ state }: { state: EndpointState }) => (
  <StatusBadge tone={ENDPOINT_TONES[state]} word={ENDPOINT_WORDS[state]} />
)

/** What the page of a delivery shows of its receiver. */
export interface Receiver {
  noun: 'endpoint' | 'webhook'
  url: string
  /** Address of its page. */
  href: string
  active: boolean
  health?: Pick<Endpoint['health'], 'failures_in_a_row' | 'open_until'>
}

export const receiverOf = ({ id, url, active, health }: Endpoint): Receiver => ({
  noun: 'endpoint',
  url,
  href: usePage().href(`/endpoints/${id}`),
  active,
  health,
})

export const DELIVERY_TONES: Record<Status, Tone> = {
  pending: 'busy',
  delivering: 'busy',
  retrying: 'warn',
  held: 'warn',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'quiet',
}

/** Names of the statuses for people. */
export const WORDS: Record<Status, string> = {
  pending: 'pending',
  delivering: 'delivering',
  retrying: 'retrying',
  held: 'held',
  succeeded: 'delivered',
  failed: 'failed',
  cancelled: 'cancelled',
}

export const DeliveryBadge = ({ status }: { status: Status }) => (
  <StatusBadge tone={DELIVERY_TONES[status]} word={WORDS[status]} />
)

/** A moment, or a dash if there is none. */
export const Moment = ({ at }: { at: string | null }) =>
  at === null ? <>–</> : <Time at={Date.parse(at)} />

/** A moment for "since": the time of day within a day, else date and time. */
export const Clock = ({ at }: { at: string }) => {
  const ms = Date.parse(at)
  const { now, zone } = useHere()
  const exact = minuteIn(ms, zone)
  return (
    <time {...timeAttributes(ms, zone)}>
      {now - ms < DAY_MS ? exact.slice('2026-01-01 '.length) : exact}
    </time>
  )
}
