import { addCopies, copyIds } from './copies.ts'
import { type Installation, openBeside } from './installation.ts'
import { addEndpoint, event, MESSAGES, post, type Relay } from './relay.ts'

/** An event for one endpoint that takes nothing, so that nothing is sent; says its id. */
export async function addHeldMessage(relay: Relay): Promise<string> {
  await addEndpoint(relay, 'http://127.0.0.1:9/', { active: false })
  const { id } = await post(relay, MESSAGES, event(0))
  return id
}

/** Copies of a first message, all delivered, with their idempotency keys. */
export function storeMessages(installation: Installation, template: string, stored: number) {
  using client = openBeside(installation)
  const count = stored - 1
  const id = copyIds()()
  const { seq } = client.query('SELECT seq FROM messages WHERE id = ?').get(template) as {
    seq: number
  }
  const key = 'lower(hex(randomblob(16)))'
  addCopies(client, {
    table: 'messages',
    of: template,
    count,
    columns: { id, idempotency_key: key },
  })
  addCopies(client, {
    table: 'deliveries',
    of: `${seq}`,
    by: 'message_seq',
    count,
    columns: {
      id: copyIds()(),
      message_seq: `${seq + 1} + i`,
      state: "'succeeded'",
      ended_at: 'row.created_at',
    },
  })
  addCopies(client, {
    table: 'relay_idempotency_keys',
    of: template,
    by: 'message_id',
    count,
    columns: { key, message_id: id },
  })
}
