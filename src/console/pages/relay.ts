import { Elysia } from 'elysia'
import type { Db } from '../../db/open.ts'
import type { Relay } from '../../engines/relay/index.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { CallerOf } from '../callers.ts'
import type { Frames } from '../frame.ts'
import type { ConsoleKit } from '../kit.ts'
import { deliveryPages } from './deliveries.ts'
import { endpointPages } from './endpoints.ts'
import { eventTypePages } from './event-types.ts'
import { messagePages } from './messages.ts'
import { createRelayVisits, type RelayVisits } from './relay-visit.ts'

export interface RelayParts {
  kit: ConsoleKit
  frames: Frames
  db: Db
  audit: Audit
  clock: Clock
  baseUrl: () => string
  relay: Relay
  visited: RelayVisits
}

/** The pages of the event relay. */
export function relayPages(parts: Omit<RelayParts, 'visited'> & { callerOf: CallerOf }) {
  const common = { ...parts, visited: createRelayVisits(parts.callerOf) }
  return new Elysia({ name: 'relay pages' })
    .use(endpointPages(common))
    .use(messagePages(common))
    .use(deliveryPages(common))
    .use(eventTypePages(common))
}
