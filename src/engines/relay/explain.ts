import type { MessageOutcome } from '../../delivery/message-outcomes.ts'
import type { EndpointSummary } from '../../delivery/store/endpoints.ts'
import type { MessageRow } from '../../delivery/store/messages.ts'
import type { DeliveryView } from '../../delivery/store/rows.ts'
import { statusOf } from '../../http/delivery-log/present.ts'
import { isoTime } from '../../platform/clock.ts'
import type { EndpointOutcome, MessageDetail } from './model/messages.ts'
import { presentMessage } from './present.ts'

/** A message without its payload, with its outcome at each endpoint and the reason in words. */
export const presentMessageDetail = (
  row: MessageRow,
  outcomes: MessageOutcome[],
): Omit<MessageDetail, 'payload'> => ({
  ...presentMessageHead(row),
  endpoints: outcomes.map((outcome) => explain(outcome, row.type, channelsOf(row))),
})

/** A message without its payload and outcomes. */
export const presentMessageHead = (
  row: MessageRow,
): Omit<MessageDetail, 'payload' | 'endpoints'> => ({
  ...presentMessage(row),
  channels: channelsOf(row),
  idempotency_key: row.idempotencyKey,
})

/** The channels that a message names. */
export const channelsOf = ({ channels }: Pick<MessageRow, 'channels'>): string[] =>
  channels === null ? [] : JSON.parse(channels)

export function explain(
  outcome: MessageOutcome,
  type: string,
  channels: string[],
): EndpointOutcome {
  const { endpointId, endpoint, delivery } = outcome
  const where = { endpoint_id: endpointId, url: endpoint?.url ?? null }
  if (delivery) {
    const verdict = statusOf(delivery)
    const reason = afterArrival(delivery, progress(delivery, endpoint))
    return { ...where, delivery_id: delivery.id, verdict, reason }
  }
  return {
    ...where,
    delivery_id: null,
    verdict: outcome.whyNot,
    reason: whyNot(outcome, type, channels),
  }
}

/** The reason in words for a delivery that has succeeded before and was sent again since. */
const afterArrival = ({ state, succeededAt }: DeliveryView, since: string): string =>
  succeededAt === null || state === 'succeeded'
    ? since
    : `delivered at ${isoTime(succeededAt)}, then sent again: ${since}`

function progress(delivery: DeliveryView, endpoint: EndpointSummary | null): string {
  const { attempts, run, dueAt, endedAt } = delivery
  const tried = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  const at = endedAt === null ? '' : ` at ${isoTime(endedAt)}`
  switch (statusOf(delivery)) {
    case 'pending':
      return `${attempts === 0 ? 'first' : 'next'} attempt at ${isoTime(dueAt)}`
    case 'delivering':
      return 'attempt in progress'
    case 'retrying':
      return `${run === 1 ? `${tried} failed` : `${tried} in ${run} runs`}; next attempt at ${isoTime(dueAt)}`
    case 'held':
      return endpoint?.isActive
        ? 'held until the failing endpoint recovers'
        : 'held until the endpoint is resumed'
    case 'succeeded':
      return `delivered${at} after ${tried}`
    case 'failed':
      return `failed${at} after ${tried}`
    case 'cancelled':
      return endpoint ? `cancelled${at}` : `cancelled${at}: the endpoint was deleted`
  }
}

function whyNot(
  outcome: Extract<MessageOutcome, { delivery: null }>,
  type: string,
  channels: string[],
): string {
  const replay = outcome.matchesNow ? '; to send it, start a replay' : ''
  return reasonOf(outcome, type, channels) + replay
}

function reasonOf(
  { whyNot, filter }: Extract<MessageOutcome, { delivery: null }>,
  type: string,
  channels: string[],
): string {
  switch (whyNot) {
    case 'event_type':
      return `the endpoint was subscribed to ${listed(filter?.eventTypes ?? ['*'])}, not to ${type}`
    case 'own':
      return 'the message is about this endpoint, or about one with the same URL'
    case 'channels':
      return `the endpoint listened on channels ${listed(filter?.channels ?? [])}; the message was sent to ${listed(channels)}`
    case 'later':
      return 'the endpoint was created after the message'
    case 'sandbox':
      return 'the endpoint matched, but events sent with a test key are not delivered'
    case 'not_sent':
      return 'the endpoint matched, but no delivery was created'
    case 'forgotten':
      return 'the filters that the endpoint had then are no longer stored'
  }
}

const SHOWN = 10

const listed = (names: readonly string[]): string =>
  names.length <= SHOWN
    ? names.join(', ')
    : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`
