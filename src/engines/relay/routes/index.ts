import { Elysia } from 'elysia'
import type { Access } from '../../../http/access.ts'
import type { DeliveryLog } from '../../../http/delivery-log/deliveries.ts'
import type { RelayEndpoints } from '../endpoints.ts'
import type { EventTypes } from '../event-types.ts'
import type { Messages } from '../messages.ts'
import { deliveryRoutes } from './deliveries.ts'
import { endpointRoutes } from './endpoints.ts'
import { eventTypeRoutes } from './event-types.ts'
import { messageRoutes } from './messages.ts'

/** All routes of the engine. */
export const createRoutes = (parts: {
  messages: Messages
  endpoints: RelayEndpoints
  deliveries: DeliveryLog
  eventTypes: EventTypes
  access: Access
}) =>
  new Elysia({ prefix: '/v1/relay' })
    .use(messageRoutes(parts))
    .use(endpointRoutes(parts))
    .use(deliveryRoutes(parts))
    .use(eventTypeRoutes(parts))
