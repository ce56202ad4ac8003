import type { MessageRow } from '../../delivery/store/messages.ts'
import type { DeliveryView } from '../../delivery/store/rows.ts'
import type { Fate } from '../../delivery/verdicts.ts'
import { isoTime } from '../../platform/clock.ts'
import type { MessageDetail, Verdict } from './model.ts'
import { presentMessage, statusOf } from './present.ts'

/** A message without its payload, with what became of it everywhere, and in words why. */
export function presentMessageDetail(
  row: MessageRow,
  fates: Fate[],
): Omit<MessageDetail, 'payload'> {
  const channels: string[] = row.channels === null ? [] : JSON.parse(row.channels)
  return {
    ...presentMessage(row),
    channels,
    idempotency_key: row.idempotencyKey,
    endpoints: fates.map((fate) => explain(fate, row.type, channels)),
  }
}

function explain(fate: Fate, type: string, channels: string[]): Verdict {
  const { endpointId, url } = fate
  const where = { endpoint_id: endpointId, url }
  if (fate.delivery) {
    const { delivery } = fate
    return {
      ...where,
      delivery_id: delivery.id,
      verdict: statusOf(delivery),
      reason: progress(delivery, url !== null),
    }
  }
  return { ...where, delivery_id: null, verdict: fate.whyNot, reason: whyNot(fate, type, channels) }
}

function progress(delivery: DeliveryView, endpointExists: boolean): string {
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
      return 'kept until its endpoint takes deliveries again'
    case 'succeeded':
      return `delivered${at} with ${tried}`
    case 'failed':
      return `given up${at} after ${tried}`
    case 'cancelled':
      return endpointExists ? `cancelled${at}` : `cancelled${at}: its endpoint was deleted`
  }
}

function whyNot(
  { whyNot, filter }: Extract<Fate, { delivery: null }>,
  type: string,
  channels: string[],
): string {
  switch (whyNot) {
    case 'event_type':
      return `it listened to ${listed(filter?.eventTypes ?? [])}, not to ${type}`
    case 'channels':
      return channels.length === 0
        ? `it listened to the channels ${listed(filter?.channels ?? [])} only, and the message names none`
        : `it listened to the channels ${listed(filter?.channels ?? [])}, the message names ${listed(channels)}`
    case 'later':
      return 'the endpoint is younger than the message; a replay can send it'
    case 'sandbox':
      return 'it would have been delivered with a live key; test keys only accept'
    case 'not_sent':
      return filter === null
        ? 'what the endpoint listened to then is not known any more; a replay can send it'
        : 'it was for this endpoint, and was not sent; a replay can send it'
  }
}

const SHOWN = 10

const listed = (names: readonly string[]): string =>
  names.length <= SHOWN
    ? names.join(', ')
    : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`
