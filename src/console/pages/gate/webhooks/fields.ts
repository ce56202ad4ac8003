import { EVENT_TYPES, type EventType } from '../../../../engines/gate/events.ts'
import type { Fields } from '../../../../http/body.ts'
import { invalid } from '../../../../platform/errors.ts'
import { ticked, typed } from '../../../form.ts'

export const FIELDS = { url: 'url', events: 'events' }

/** Reads a webhook from a form; throws `invalid` with the field's name. */
export function wantedIn(body: Fields): { url: string; events: EventType[] } {
  const chosen = ticked(body, 'events')
  const events = EVENT_TYPES.filter((type) => chosen.includes(type))
  if (events.length === 0) throw invalid('events: choose at least one')
  const url = typed(body, 'url')
  if (url === '') throw invalid('url: expected an http or https URL')
  return { url, events }
}
