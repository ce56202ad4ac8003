import { Elysia } from 'elysia'
import type { CallerOf } from '../callers.ts'
import { deliveryPages } from './deliveries.ts'
import { createRelayContexts } from './relay/context.ts'
import { deliveryPage } from './relay/delivery.ts'
import { endpointPage } from './relay/endpoint.ts'
import { endpointForms } from './relay/endpoint-forms.ts'
import { endpointListPage } from './relay/endpoints.ts'
import { eventTypePages } from './relay/event-types.ts'
import { messagePages } from './relay/messages.ts'
import type { RelayParts } from './relay/parts.ts'
import { replayPages } from './relay/replay.ts'

/** The pages of the event relay. */
export function relayPages(parts: Omit<RelayParts, 'contextOf'> & { callerOf: CallerOf }) {
  const common = { ...parts, contextOf: createRelayContexts(parts.callerOf) }
  return new Elysia({ name: 'relay pages' })
    .use(endpointListPage(common))
    .use(endpointForms(common))
    .use(endpointPage(common))
    .use(replayPages(common))
    .use(messagePages(common))
    .use(deliveryPages(common))
    .use(deliveryPage(common))
    .use(eventTypePages(common))
}
