import type { Page } from '../../page.tsx'
import { deliveryList } from './deliveries.tsx'
import { deliveryPage } from './delivery.tsx'
import { endpointPage } from './endpoint.tsx'
import { editEndpoint, newEndpoint } from './endpoint-form.tsx'
import { endpointList } from './endpoints.tsx'
import { eventTypePage } from './event-type.tsx'
import { eventTypeList } from './event-types.tsx'
import { messagePage } from './message.tsx'
import { messageList } from './messages.tsx'
import { newMessage } from './new-message.tsx'
import { replayPage } from './replay.tsx'

export const webhookPages: readonly Page[] = [
  endpointList,
  newEndpoint,
  endpointPage,
  editEndpoint,
  replayPage,
  messageList,
  newMessage,
  messagePage,
  deliveryList,
  deliveryPage,
  eventTypeList,
  eventTypePage,
]
