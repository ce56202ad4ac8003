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
    : `delivered at ${isoTime(succeededAt)}; since it was sent again: ${since}`

function progress(delivery: DeliveryView, endpoint: EndpointSummary | null): string {
  const { attempts, run, dueAt, endedAt } = delivery
  const tried = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  const at = endedAt === null ? '' : ` at ${isoTime(endedAt)}`
  switch (statusOf(delivery)) {
    case 'pending':
      return `${attempts === 0 ? 'its first' : 'the next'} attempt is due at ${isoTime(dueAt)}`
    case 'delivering':
      return 'an attempt is under way'
    case 'retrying':
      return `${run === 1 ? `${tried} failed` : `${tried} in ${run} runs`}; the next is due at ${isoTime(dueAt)}`
    case 'held':
      return endpoint?.isActive
        ? 'kept until its endpoint, which keeps failing, answers again'
        : 'kept until its endpoint, which is inactive, takes deliveries again'
    case 'succeeded':
      return `delivered${at} with ${tried}`
    case 'failed':
      return `given up${at} after ${tried}`
    case 'cancelled':
      return endpoint ? `cancelled${at}` : `cancelled${at}: its endpoint was deleted`
  }
}

function whyNot(
  outcome: Extract<MessageOutcome, { delivery: null }>,
  type: string,
  channels: string[],
): string {
  const replay = outcome.matchesNow ? '; a replay can send it' : ''
  return reasonOf(outcome, type, channels) + replay
}

function reasonOf(
  { whyNot, filter }: Extract<MessageOutcome, { delivery: null }>,
  type: string,
  channels: string[],
): string {
  switch (whyNot) {
    case 'event_type':
      return `it listened to ${listed(filter?.eventTypes ?? [])}, not to ${type}`
    case 'channels':
      return `it listened to the channels ${listed(filter?.channels ?? [])}, the message names ${listed(channels)}`
    case 'later':
      return 'the endpoint is younger than the message'
    case 'sandbox':
      return 'it was for this endpoint; test keys accept events and deliver none'
    case 'not_sent':
      return 'it was for this endpoint, and was not sent'
    case 'forgotten':
      return 'what the endpoint listened to then is not known any more'
  }
}

const SHOWN = 10

const listed = (names: readonly string[]): string =>
  names.length <= SHOWN
    ? names.join(', ')
    : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`
