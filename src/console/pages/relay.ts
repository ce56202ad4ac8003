import { Elysia } from 'elysia'
import type { Db } from '../../db/open.ts'
import type { Delivery } from '../../delivery/index.ts'
import type { Relay } from '../../engines/relay/index.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { CallerOf } from '../callers.ts'
import type { Frames } from '../frame.ts'
import type { ConsoleKit } from '../kit.ts'
import type { LiveAnswers } from '../live/answers.ts'
import { deliveryPages } from './deliveries.ts'
import { deliveryPage } from './relay/delivery.ts'
import { endpointPage } from './relay/endpoint.ts'
import { endpointForms } from './relay/endpoint-forms.ts'
import { endpointListPage } from './relay/endpoints.ts'
import { eventTypePages } from './relay/event-types.ts'
import { messagePages } from './relay/messages.ts'
import { replayPages } from './relay/replay.ts'
import { createRelayVisits, type RelayVisits } from './relay/visit.ts'

export interface RelayParts {
  kit: ConsoleKit
  frames: Frames
  db: Db
  audit: Audit
  clock: Clock
  baseUrl: () => string
  relay: Relay
  delivery: Delivery
  liveAnswers: LiveAnswers
  visited: RelayVisits
}

/** The pages of the event relay. */
export function relayPages(parts: Omit<RelayParts, 'visited'> & { callerOf: CallerOf }) {
  const common = { ...parts, visited: createRelayVisits(parts.callerOf) }
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
