import { checkedValues } from '../../../../../views/console/form/values.ts'
import { EVENT_TYPES, type EventType } from '../../../../engines/gate/webhooks/events.ts'
import type { Fields } from '../../../../http/body.ts'
import { invalid } from '../../../../platform/errors.ts'
import { trimmedText } from '../../../form.ts'

export const FIELDS = { url: 'url', events: 'events' }

/** Reads a webhook from a form; throws `invalid` with the field's name. */
export function wantedIn(body: Fields): { url: string; events: EventType[] } {
  const chosen = checkedValues(body, 'events')
  const events = EVENT_TYPES.filter((type) => chosen.includes(type))
  if (events.length === 0)
    throw invalid('must name at least one event', { field: 'events', rule: 'required' })
  const url = trimmedText(body, 'url')
  if (url === '') throw invalid('must be an http or https URL', { field: 'url', rule: 'format' })
  return { url, events }
}
