import type { Delivery } from '../../delivery/index.ts'
import type { Tell } from '../../delivery/operational.ts'
import { consoleUrl } from '../../http/urls.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import type { Messages } from './messages.ts'
import { streamOf } from './stream.ts'

/** Publishes operational events to tenants. Without an endpoint that subscribes, it stores nothing. */
export function createOperationalEvents(parts: {
  delivery: Delivery
  messages: Messages
  clock: Clock
  baseUrl: () => string
}): Tell {
  const { delivery, messages, clock, baseUrl } = parts

  return ({ tenantId, type, about, path, fields }) => {
    const stream = streamOf({ tenantId, environment: 'live' })
    if (!delivery.hasSubscriber(stream, { type, channels: [], about })) return
    const payload = fields()
    if (!payload) return
    const at = isoTime(clock.now())
    const url = consoleUrl(baseUrl(), tenantId, path)
    messages.announce({ tenantId, type, about, payload: { ...payload, at, url } })
  }
}
