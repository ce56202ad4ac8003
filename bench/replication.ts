import { join } from 'node:path'
import type { Bench } from './support/bench.ts'
import { compare, type Figure } from './support/figure.ts'
import { temporaryFolder } from './support/installation.ts'
import { load, requestText } from './support/load.ts'
import { event, MESSAGES, startRelay } from './support/relay.ts'
import { alternate } from './support/rounds.ts'
import { startFloor } from './support/server.ts'
import { addHeldMessage } from './support/stored-messages.ts'

/** Round trips to a bucket, in milliseconds. */
const ROUND_TRIPS = [5, 20, 80]
const CLIENTS = [512, 64]

/** Events that are acknowledged once a replica has them, compared with this disk alone. */
export const replication: Bench = async ({ stack, rounds, ms }) => {
  const local = await startSender(stack, ms)
  const figures: Figure[] = []
  for (const roundTrip of ROUND_TRIPS) {
    const replicated = await startSender(stack, ms, await replica(stack, roundTrip))
    for (const clients of CLIENTS) {
      const samples = await alternate(rounds, {
        subject: () => replicated(clients),
        floor: () => local(clients),
      })
      const name = `${clients} clients, ${roundTrip} ms : this disk`
      figures.push(compare(name, 'req/s', samples), compare(name, 'CPU µs/req', samples))
    }
  }
  return figures
}

/** Settings for writes that a replica confirms after a round trip. */
async function replica(stack: AsyncDisposableStack, ms: number): Promise<Record<string, string>> {
  const socket = join(temporaryFolder(stack), 'litestream.sock')
  await startFloor(stack, 'replica', socket, `${ms}`)
  return {
    GATEHOUSE_DATABASE_EXTERNAL_CHECKPOINT: 'true',
    GATEHOUSE_REPLICATION_ACKNOWLEDGE: 'replicated',
    GATEHOUSE_REPLICATION_SOCKET: socket,
  }
}

async function startSender(
  stack: AsyncDisposableStack,
  ms: number,
  env: Record<string, string> = {},
) {
  const relay = await startRelay(stack, env)
  await addHeldMessage(relay)
  let sent = 0
  const request = () => requestText(MESSAGES, relay.key, event(sent++))
  return (clients: number) => load(relay.server, { clients, ms, request })
}
