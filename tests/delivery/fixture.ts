import type { EndpointChange, NewEndpoint } from '../../src/delivery/endpoints.ts'
import type { Event } from '../../src/delivery/publish.ts'
import type { DeliveryView } from '../../src/delivery/store/rows.ts'
import type { Stream } from '../../src/delivery/stream.ts'
import { rest } from '../engines/relay/fixture.ts'
import { count, SECOND } from '../engines/relay/support.ts'
import { bootTestApp, type TestApp, type TestAppOptions } from '../support/app.ts'

export const SYSTEM = { kind: 'system' } as const

const EVENT = { type: 'identity.login', payload: '{}', channels: [] }

export type Gate = Awaited<ReturnType<typeof gateOf>>

/** A new tenant, whose stream of gate the test publishes to by itself. */
export async function gateOf(app: TestApp) {
  const { id, key } = await app.tenant('Acme')
  const stream: Stream = { tenantId: id, name: 'gate.live' }
  const { delivery, db, clock } = app

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

  function deliveryOf({ seq }: { seq: number }): DeliveryView {
    const [found] = delivery.deliveries.ofMessage(stream, seq, { limit: 1 })
    if (!found) throw new Error('the message has no delivery')
    return found
  }

  return {
    app,
    clock,
    id,
    key,
    stream,
    publish,
    publishMany,
    deliveryOf,
    rest: () => rest(app),
    createEndpoint: (url: string, fields: Partial<NewEndpoint> = {}) =>
      delivery.endpoints.create(stream, SYSTEM, { url, format: 'raw', ...fields }),
    change: ({ id }: { id: string }, fields: EndpointChange) =>
      delivery.endpoints.update(stream, SYSTEM, id, fields),
    /** With its first attempt, and whatever follows that at once. */
    deliver: async (fields: Partial<Event> = {}) => {
      const message = await publish(fields)
      await rest(app)
      return message
    },
    attemptsAt: ({ seq }: DeliveryView) => delivery.attempts.ofDelivery(id, seq),
    /** Until no attempt is left. */
    toTheEnd: async () => {
      await rest(app)
      await clock.advance(5 * SECOND)
      await rest(app)
    },
    states: () => {
      const counts: Record<string, number> = {}
      for (const { state } of delivery.deliveries.all(stream, { limit: 10_000 }))
        counts[state] = (counts[state] ?? 0) + 1
      return counts
    },
    /** How many messages, deliveries and attempts are stored. */
    rows: () =>
      ['messages', 'deliveries', 'attempts'].map((table) =>
        count(app, `${table} where tenant_id = '${id}'`),
      ),
  }
}

/** The same in an application of its own. */
export async function bootGate(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  return { ...(await gateOf(app)), [Symbol.asyncDispose]: () => app.stop() }
}
