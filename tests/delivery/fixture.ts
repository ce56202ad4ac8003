import type { Endpoint } from '../../src/delivery/endpoint-cache.ts'
import type { EndpointChange, NewEndpoint } from '../../src/delivery/endpoints.ts'
import type { Event } from '../../src/delivery/publish.ts'
import type { DeliveryView } from '../../src/delivery/store/rows.ts'
import type { Stream } from '../../src/delivery/stream.ts'
import { rest } from '../engines/relay/fixture.ts'
import { bootTestApp, type TestAppOptions } from '../support/app.ts'

export const SYSTEM = { kind: 'system' } as const

export type GateFixture = Awaited<ReturnType<typeof bootGate>>

/** An application with one tenant, whose stream of gate the test publishes to by itself. */
export async function bootGate(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const acme = await app.tenant('Acme')
  const stream: Stream = { tenantId: acme.id, name: 'gate.live' }
  const { delivery, db, clock } = app

  const createEndpoint = (url: string, fields: Partial<NewEndpoint> = {}): Promise<Endpoint> =>
    delivery.endpoints.create(stream, SYSTEM, { url, format: 'raw', ...fields })

  const change = ({ id }: { id: string }, fields: EndpointChange): Promise<Endpoint> =>
    delivery.endpoints.update(stream, SYSTEM, id, fields)

  /** Events of one commit, each with its number in the body. */
  const publishMany = (count: number, fields: Partial<Event> = {}) =>
    db.commit(() =>
      Array.from({ length: count }, (_, n) =>
        delivery.publish(stream, { ...EVENT, payload: `{"n":${n}}`, ...fields }, clock.now()),
      ),
    )

  async function publish(fields: Partial<Event> = {}) {
    const [message] = await publishMany(1, fields)
    return message as NonNullable<typeof message>
  }

  /** With its first attempt, and whatever follows that at once. */
  async function deliver(fields: Partial<Event> = {}) {
    const message = await publish(fields)
    await rest(app)
    return message
  }

  function deliveryOf({ seq }: { seq: number }): DeliveryView {
    const [found] = delivery.deliveries.ofMessage(stream, seq, { limit: 1 })
    if (!found) throw new Error('the message has no delivery')
    return found
  }

  const attemptsAt = ({ seq }: DeliveryView) => delivery.attempts.ofDelivery(stream.tenantId, seq)

  return {
    app,
    clock,
    acme,
    stream,
    createEndpoint,
    change,
    publish,
    publishMany,
    deliver,
    deliveryOf,
    attemptsAt,
    /** `[number, milliseconds since the delivery came to be, status]` of each attempt. */
    storyOf: (message: { seq: number }): [number, number, string][] => {
      const found = deliveryOf(message)
      return attemptsAt(found).map(({ number, startedAt, status }) => [
        number,
        startedAt - found.createdAt,
        status,
      ])
    },
    states: () => {
      const counts: Record<string, number> = {}
      for (const { state } of delivery.deliveries.all(stream, { limit: 10_000 }))
        counts[state] = (counts[state] ?? 0) + 1
      return counts
    },
    hoursOf: ({ id }: { id: string }) =>
      delivery.hours.between(id, clock.now() - 3_600_000, clock.now() + 1),
    [Symbol.asyncDispose]: () => app.stop(),
  }
}

const EVENT = { type: 'identity.login', payload: '{}', channels: [] }
