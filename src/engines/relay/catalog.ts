import type { Db } from '../../db/open.ts'
import { isoTime } from '../../platform/clock.ts'
import type { Environment } from '../../platform/engines.ts'
import { createReadCache } from '../../platform/read-cache.ts'
import { EVENT_TYPES_SEEN } from './limits.ts'
import { asShape, type Drift, learn, type Shape } from './shape/index.ts'
import type { EventTypeKey } from './store/event-types.ts'
import type { Store } from './store/index.ts'

/** A change in the shape of payloads and the time it was noticed. */
export interface DatedDrift extends Drift {
  at: string
}

const MAX_SAMPLE_BYTES = 16_384
const DRIFT_KEPT = 50

export type Catalog = ReturnType<typeof createCatalog>

/** Learns event types and the shape of their payloads from every message. */
export function createCatalog({ db, store }: { db: Db; store: Store }) {
  const shapes = createReadCache<Shape>(db, 5000)

  /** Records one message, inside its commit. */
  function note(
    tenantId: string,
    environment: Environment,
    message: { type: string; payload: object; payloadText: string; now: number },
  ) {
    const key = { tenantId, environment, name: message.type }
    const known = shapeOf(key)
    if (!known || !store.eventTypes.seen(key, message.now)) return begin(key, message)
    const { shape, drift } = learn(known, message.payload)
    if (shape !== known) reshape(key, shape, drift, message)
  }

  const nameOf = ({ tenantId, environment, name }: EventTypeKey) =>
    `${tenantId} ${environment} ${name}`

  function shapeOf(key: EventTypeKey): Shape | undefined {
    const name = nameOf(key)
    const known = shapes.get(name)
    if (known) return known
    const row = store.eventTypes.find(key)
    const shape = row && asShape(row.shape)
    return shape && shapes.set(name, shape)
  }

  function begin(
    key: EventTypeKey,
    { payload, payloadText, now }: { payload: object; payloadText: string; now: number },
  ) {
    if (store.eventTypes.count(key.tenantId, key.environment) >= EVENT_TYPES_SEEN) return
    shapes.forget()
    const { shape } = learn(undefined, payload)
    store.eventTypes.insert({
      ...key,
      firstSeenAt: now,
      lastSeenAt: now,
      count: 1,
      sample: sampleOf(payloadText),
      shape: JSON.stringify(shape),
      drift: '[]',
    })
  }

  function reshape(
    key: EventTypeKey,
    shape: Shape,
    drift: Drift[],
    { payloadText, now }: { payloadText: string; now: number },
  ) {
    const row = store.eventTypes.find(key)
    if (!row) return
    const noticed: DatedDrift[] = [
      ...JSON.parse(row.drift),
      ...drift.map((change) => ({ ...change, at: isoTime(now) })),
    ]
    store.eventTypes.reshape(key, {
      shape: JSON.stringify(shape),
      drift: JSON.stringify(noticed.slice(-DRIFT_KEPT)),
      sample: sampleOf(payloadText) ?? row.sample,
    })
    shapes.forget()
  }

  return { note }
}

const sampleOf = (payload: string) => (payload.length > MAX_SAMPLE_BYTES ? null : payload)
