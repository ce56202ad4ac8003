import type { Delivery } from '../../delivery/index.ts'
import type { Stream } from '../../delivery/stream.ts'
import { ENVIRONMENTS } from '../../platform/engines.ts'
import type { Resources } from '../../platform/resources.ts'

/** Registers what the relay stores for a tenant, in either environment. */
export function addRelayResources(resources: Resources, delivery: Delivery) {
  const { messages, deliveries, endpoints } = delivery
  const add = (kind: string, exists: (stream: Stream, id: string) => boolean) =>
    resources.add(`relay:${kind}`, (tenantId, id) =>
      ENVIRONMENTS.some((name) => exists({ tenantId, name: `relay.${name}` }, id)),
    )
  add('message', (stream, id) => messages.find(stream, id) !== undefined)
  add('delivery', (stream, id) => deliveries.find(stream, id) !== undefined)
  add('endpoint', endpoints.exists)
}
