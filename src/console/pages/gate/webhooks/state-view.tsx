import { attemptsOf, type HourTally, shareOf } from '../../../../../views/console/hours.ts'
import { StatusBadge } from '../../../../../views/console/status-badge.tsx'
import { Time } from '../../../../../views/console/time.tsx'
import type { Tone } from '../../../../../views/console/tone.ts'
import { counted } from '../../../../../views/console/words.ts'
import type { Webhook } from '../../../../engines/gate/webhooks/model.ts'
import type { Attempt, Delivery, Status } from '../../../../http/delivery-log/model.ts'
import { WORDS } from '../../webhooks/state.tsx'

export const WEBHOOKS = '/console/webhooks'

export const TONES: Record<Status, Tone> = {
  pending: 'busy',
  delivering: 'busy',
  retrying: 'warn',
  held: 'quiet',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'quiet',
}

/** Names of the statuses, for sentences. */
export const OUTCOMES: Record<Status, string> = {
  pending: 'queued',
  delivering: 'delivering',
  retrying: 'failed, retrying',
  held: 'held',
  succeeded: 'delivered',
  failed: 'failed',
  cancelled: 'cancelled',
}

export const StateBadge = ({ active }: Pick<Webhook, 'active'>) =>
  active ? <StatusBadge tone="good" word="active" /> : <StatusBadge tone="quiet" word="paused" />

export const DeliveryBadge = ({ status }: Pick<Delivery, 'status'>) => (
  <StatusBadge tone={TONES[status]} word={WORDS[status]} />
)

export const hasIssue = (delivery: Delivery | undefined): boolean =>
  delivery?.status === 'failed' || delivery?.status === 'retrying'

/** Response status, or error. */
export const outcomeOf = ({ response, error }: Pick<Attempt, 'response' | 'error'>): string =>
  error?.message ?? (response ? `status ${response.status}` : '')

export const time = (at: string, now: number) => <Time at={Date.parse(at)} now={now} />

export const inWords = (hours: readonly HourTally[]): string =>
  `${shareOf(hours)} of ${counted(attemptsOf(hours), 'attempt')} delivered in the last 24 hours`
