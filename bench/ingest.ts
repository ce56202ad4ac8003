import { Database } from 'bun:sqlite'
import { databaseFile } from '../src/db/open.ts'
import type { Bench } from './support/bench.ts'
import { addCopies, copyIds } from './support/copies.ts'
import { compare, type Figure } from './support/figure.ts'
import { load, requestText } from './support/load.ts'
import { addEndpoint, event, MESSAGES, post, type Relay, startRelay } from './support/relay.ts'
import { alternate } from './support/rounds.ts'
import { type Server, startFloor } from './support/server.ts'

/** The busiest first: it warms the code up for those that ask less often. */
const CLIENTS = [64, 16, 1]
const MOST_CLIENTS = 64
const FEW = 1000

/** Events sent over HTTP, each answered when it is on disk with a delivery that is held. */
export const ingest: Bench = async ({ stack, rounds, ms, stored }) => [
  ...(await besideFloor({ stack, rounds, ms })),
  ...(await amongMany({ stack, rounds, ms, stored })),
]

type Parts = Pick<Parameters<Bench>[0], 'stack' | 'rounds' | 'ms'>

async function besideFloor({ stack, rounds, ms }: Parts): Promise<Figure[]> {
  const relay = await startHeld(stack)
  const subject = sender(relay.server, relay.key, ms)
  const floor = sender(await startFloor(stack, 'ingest'), relay.key, ms)
  const figures: Figure[] = []
  for (const clients of CLIENTS) {
    const samples = await alternate(rounds, {
      subject: () => subject(clients),
      floor: () => floor(clients),
    })
    const name = `${who(clients)} : group commit`
    const target = clients === MOST_CLIENTS ? '>= 0.6' : undefined
    figures.push(compare(name, 'req/s', samples, target), compare(name, 'CPU µs/req', samples))
  }
  return figures
}

async function amongMany({ stack, rounds, ms, stored }: Parts & { stored: number }) {
  const many = await startHeld(stack)
  const few = await startHeld(stack)
  fill(many, stored)
  fill(few, FEW)
  const subject = sender(many.server, many.key, ms)
  const floor = sender(few.server, few.key, ms)
  const samples = await alternate(rounds, {
    subject: () => subject(MOST_CLIENTS),
    floor: () => floor(MOST_CLIENTS),
  })
  const name = `${who(MOST_CLIENTS)}, ${stored.toLocaleString('en')} : ${FEW.toLocaleString('en')} stored`
  return [compare(name, 'req/s', samples, '>= 0.8'), compare(name, 'CPU µs/req', samples)]
}

const who = (clients: number) => (clients === 1 ? '1 client' : `${clients} clients`)

/** One endpoint that takes nothing, so that nothing is sent meanwhile. */
async function startHeld(stack: AsyncDisposableStack) {
  const relay = await startRelay(stack)
  await addEndpoint(relay, 'http://127.0.0.1:9/', { active: false })
  const template = await post(relay, MESSAGES, event(0))
  return { ...relay, template: template.id }
}

/** Goes on where it stopped the last time. Floors are sent the key too, and ignore it. */
function sender(server: Server, key: string, ms: number) {
  let sent = 0
  const request = () => requestText(MESSAGES, key, event(sent++))
  return (clients: number) => load(server, { clients, ms, request })
}

/** Copies of the first message, all delivered, with their idempotency keys. */
function fill({ dataDir, template }: Relay & { template: string }, stored: number) {
  using client = new Database(databaseFile(dataDir), { strict: true })
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
