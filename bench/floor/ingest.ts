/**
 * Stores the event in the body as the program does and answers once it is on disk: its
 * idempotency key, the message, one delivery that is held, and one more in the count of its type,
 * in a transaction shared among the requests of a turn. No key is looked at, nothing is checked,
 * hashed, matched or learnt.
 */
import { randomUUIDv7 } from 'bun'
import { createInstallation, openInstallationDatabase } from '../support/installation.ts'
import { type Event, TYPE } from '../support/relay.ts'

const DAY_MS = 86_400_000
const DIGEST = '0'.repeat(64)

await using stack = new AsyncDisposableStack()
const { dataDir, residents } = await createInstallation(stack)
const tenantId = residents[0]?.id ?? ''
const endpointId = randomUUIDv7()
const { client, commit } = openInstallationDatabase(dataDir)

client.run(
  `INSERT INTO relay_event_types
     (tenant_id, environment, name, first_seen_at, last_seen_at, count, shape, drift)
   VALUES (?, 'live', ?, 0, 0, 0, '{}', '[]')`,
  [tenantId, TYPE],
)
const insertMessage = client.prepare<{ seq: number }, (string | number)[]>(
  `INSERT INTO messages (id, tenant_id, stream, type, payload, idempotency_key, accepted_at)
   VALUES (?, ?, 'relay.live', ?, ?, ?, ?) RETURNING seq`,
)
const insertDelivery = client.prepare(
  `INSERT INTO deliveries (id, tenant_id, stream, message_seq, endpoint_id, format, state, line,
     run, attempts, tries, trigger, due_at, created_at)
   VALUES (?, ?, 'relay.live', ?, ?, 'standard', 'held', 0, 1, 0, 0, 'schedule', ?, ?)`,
)
const count = client.prepare(
  `UPDATE relay_event_types SET count = count + 1, last_seen_at = ?
   WHERE tenant_id = ? AND environment = 'live' AND name = ?`,
)
const insertKey = client.prepare(
  `INSERT INTO relay_idempotency_keys
     (tenant_id, environment, key, message_id, event_type, accepted_at, digest, expires_at)
   VALUES (?, 'live', ?, ?, ?, ?, ?, ?)`,
)

function store({ event_type: type, idempotency_key: key, payload }: Event) {
  const now = Date.now()
  const id = randomUUIDv7()
  const row = insertMessage.get(id, tenantId, type, JSON.stringify(payload), key, now)
  insertDelivery.run(randomUUIDv7(), tenantId, row?.seq ?? 0, endpointId, now, now)
  count.run(now, tenantId, type)
  insertKey.run(tenantId, key, id, type, now, DIGEST, now + DAY_MS)
  return { id, event_type: type, status: 'accepted', timestamp: new Date(now).toISOString() }
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => {
    const event = (await request.json()) as Event
    return Response.json(await commit(() => store(event)), { status: 202 })
  },
})
console.log(JSON.stringify({ url: server.url.origin }))
await new Promise((resolve) => process.once('SIGTERM', resolve))
await server.stop(true)
