import type { Bench } from './support/bench.ts'
import { compare, type Figure } from './support/figure.ts'
import { load, requestText } from './support/load.ts'
import { event, MESSAGES, startRelay } from './support/relay.ts'
import { alternate } from './support/rounds.ts'
import { type Server, startFloor } from './support/server.ts'
import { addHeldMessage, storeMessages } from './support/stored-messages.ts'

/** The busiest first: it warms the code up for those that ask less often. */
const CLIENTS = [64, 16, 1]
const MAX_CLIENTS = 64
const FEW = 1000

/** Events sent over HTTP, each answered when it is on disk with a delivery that is held. */
export const ingest: Bench = async ({ stack, rounds, ms, stored }) => [
  ...(await besideFloor({ stack, rounds, ms })),
  ...(await amongMany({ stack, rounds, ms, stored })),
]

type Parts = Pick<Parameters<Bench>[0], 'stack' | 'rounds' | 'ms'>

async function besideFloor({ stack, rounds, ms }: Parts): Promise<Figure[]> {
  const relay = await startRelay(stack)
  await addHeldMessage(relay)
  const subject = sender(relay.server, relay.key, ms)
  const floor = sender(await startFloor(stack, 'ingest'), relay.key, ms)
  const figures: Figure[] = []
  for (const clients of CLIENTS) {
    const samples = await alternate(rounds, {
      subject: () => subject(clients),
      floor: () => floor(clients),
    })
    const name = `${who(clients)} : group commit`
    const target = clients === MAX_CLIENTS ? '>= 0.85' : undefined
    figures.push(compare(name, 'req/s', samples, target), compare(name, 'CPU µs/req', samples))
  }
  return figures
}

async function amongMany({ stack, rounds, ms, stored }: Parts & { stored: number }) {
  const many = await startRelay(stack)
  const few = await startRelay(stack)
  storeMessages(many, await addHeldMessage(many), stored)
  storeMessages(few, await addHeldMessage(few), FEW)
  const subject = sender(many.server, many.key, ms)
  const floor = sender(few.server, few.key, ms)
  const samples = await alternate(rounds, {
    subject: () => subject(MAX_CLIENTS),
    floor: () => floor(MAX_CLIENTS),
  })
  const name = `${who(MAX_CLIENTS)}, ${stored.toLocaleString('en')} : ${FEW.toLocaleString('en')} stored`
  return [compare(name, 'req/s', samples, '>= 0.8'), compare(name, 'CPU µs/req', samples)]
}

const who = (clients: number) => (clients === 1 ? '1 client' : `${clients} clients`)

/** Goes on where it stopped the last time. Floors are sent the key too, and ignore it. */
function sender(server: Server, key: string, ms: number) {
  let sent = 0
  const request = () => requestText(MESSAGES, key, event(sent++))
  return (clients: number) => load(server, { clients, ms, request })
}
