import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import type { Fields } from '../../../../src/http/body.ts'
import type { Status } from '../../../../src/http/delivery-log/model.ts'
import { StatusMark } from '../../status-mark.tsx'
import { Time, utc } from '../../time.tsx'
import type { Tone } from '../../tone.ts'

/** `stopped` are those that were switched off by us, `paused` those that somebody has. */
export const ENDPOINT_STATES = ['active', 'failing', 'paused', 'stopped'] as const
export type EndpointState = (typeof ENDPOINT_STATES)[number]

/** What of an endpoint says how it stands. */
export type Standing = Pick<Endpoint, 'active' | 'disabled_reason' | 'health'>

export function stateOf({ active, disabled_reason: reason, health }: Standing): EndpointState {
  if (!active) return reason === 'manual' ? 'paused' : 'stopped'
  return health.failing_since === null ? 'active' : 'failing'
}

/** How many of them stand how. */
export function countsOf(endpoints: readonly Standing[]): Record<EndpointState, number> {
  const counts = { active: 0, failing: 0, paused: 0, stopped: 0 }
  for (const endpoint of endpoints) counts[stateOf(endpoint)]++
  return counts
}

export const ENDPOINT_TONES: Record<EndpointState, Tone> = {
  active: 'good',
  failing: 'bad',
  paused: 'quiet',
  stopped: 'bad',
}

export const EndpointMark = ({ endpoint }: { endpoint: Standing }) => {
  const state = stateOf(endpoint)
  return <StatusMark tone={ENDPOINT_TONES[state]} word={state} />
}

export const DELIVERY_TONES: Record<Status, Tone> = {
  pending: 'busy',
  delivering: 'busy',
  retrying: 'warn',
  held: 'warn',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'quiet',
}

/** As people say it: what succeeded has been delivered. */
export const WORDS: Record<Status, string> = {
  pending: 'pending',
  delivering: 'under way',
  retrying: 'retrying',
  held: 'held',
  succeeded: 'delivered',
  failed: 'failed',
  cancelled: 'cancelled',
}

export const DeliveryMark = ({ status }: { status: Status }) => (
  <StatusMark tone={DELIVERY_TONES[status]} word={WORDS[status]} />
)

/** When something happened, or will; a dash where nothing does. */
export const Moment = ({ at, now }: { at: string | null; now: number }) =>
  at === null ? <>–</> : <Time at={Date.parse(at)} now={now} />

const DAY_MS = 86_400_000

/** The hour of today, the day of what was before: for "failing since". */
export const Clock = ({ at, now }: { at: string; now: number }) => {
  const ms = Date.parse(at)
  const isToday = now - ms < DAY_MS
  return (
    <time datetime={at} title={utc(ms)}>
      {isToday ? utc(ms).slice(11, 16) : utc(ms).slice(0, 10)}
    </time>
  )
}

export const textIn = (fields: Fields | undefined, name: string): string | undefined => {
  const value = fields?.[name]
  return typeof value === 'string' ? value : undefined
}
