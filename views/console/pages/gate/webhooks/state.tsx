import type { Webhook } from '../../../../../src/engines/gate/model/webhooks.ts'
import type { Attempt, Delivery, Status } from '../../../../../src/http/delivery-log/model.ts'
import { attemptsOf, type HourTally, shareOf } from '../../../hours.ts'
import { StatusMark } from '../../../status-mark.tsx'
import { Time } from '../../../time.tsx'
import type { Tone } from '../../../tone.ts'
import { counted } from '../../../words.ts'

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

/** After "This delivery …". */
export const OUTCOMES: Record<Status, string> = {
  pending: 'is about to be sent',
  delivering: 'is on its way',
  retrying: 'has failed so far and will be tried again',
  held: 'is held',
  succeeded: 'was taken',
  failed: 'has failed',
  cancelled: 'was cancelled',
}

export const StateMark = ({ active }: Pick<Webhook, 'active'>) =>
  active ? <StatusMark tone="good" word="active" /> : <StatusMark tone="quiet" word="paused" />

export const DeliveryMark = ({ status }: Pick<Delivery, 'status'>) => (
  <StatusMark tone={TONES[status]} word={status} />
)

export const isTrouble = (delivery: Delivery | undefined): boolean =>
  delivery?.status === 'failed' || delivery?.status === 'retrying'

/** A status, or why there is none. */
export const outcomeOf = ({ response, error }: Pick<Attempt, 'response' | 'error'>): string =>
  error?.message ?? (response ? `status ${response.status}` : '')

export const time = (at: string, now: number) => <Time at={Date.parse(at)} now={now} />

export const inWords = (hours: readonly HourTally[]): string =>
  `${shareOf(hours)} of ${counted(attemptsOf(hours), 'attempt')} taken in 24 hours`
