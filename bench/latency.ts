import type { Bench } from './support/bench.ts'
import { compare, type Figure } from './support/figure.ts'
import { listen, type Receiver } from './support/receiver.ts'
import { addEndpoint, event, MESSAGES, post, type Relay, startRelay } from './support/relay.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { startFloor } from './support/server.ts'

/** Events a second, and for how many times the usual length of a turn. */
const PACES = [
  { rate: 50, turns: 4 },
  { rate: 500, turns: 2 },
]

/** From an event's request, and from its 202, to the first byte at its one receiver. */
export const latency: Bench = async ({ stack, rounds, ms }) => {
  const receiver = listen(stack)
  const relay = await startRelay(stack)
  await addEndpoint(relay, receiver.url)
  const floor = { server: await startFloor(stack, 'deliver', receiver.url), key: relay.key }

  const figures: Figure[] = []
  for (const { rate, turns } of PACES) {
    const count = Math.ceil((rate * ms * turns) / 1000)
    const samples = await alternate(Math.ceil(rounds / 2), {
      subject: () => timed(relay, receiver, { rate, count }),
      floor: () => timed(floor, receiver, { rate, count }),
    })
    for (const unit of UNITS) figures.push(compare(`${rate}/s : sent on at once`, unit, samples))
  }
  return figures
}

const UNITS = ['ms p50', 'ms p99', 'ms p50 after 202', 'ms p99 after 202']

type Sender = Pick<Relay, 'server' | 'key'>

interface Sent {
  id: string
  sentAt: number
  acceptedAt: number
}

/** Sends at a steady pace, however long the answers take. */
async function timed(
  sender: Sender,
  receiver: Receiver,
  { rate, count }: { rate: number; count: number },
): Promise<Sample> {
  const start = performance.now()
  const all: Promise<Sent>[] = []
  for (let n = 0; n < count; n++) {
    const early = start + (n / rate) * 1000 - performance.now()
    if (early > 0) await Bun.sleep(early)
    all.push(send(sender, n))
  }
  const sent = await Promise.all(all)
  const arrivals = await receiver.arrivalsOf(sent.map(({ id }) => id))
  const sinceSent = sent.map(({ sentAt }, n) => (arrivals[n] as number) - sentAt)
  const sinceAccepted = sent.map(({ acceptedAt }, n) => (arrivals[n] as number) - acceptedAt)
  return {
    'ms p50': quantile(sinceSent, 0.5),
    'ms p99': quantile(sinceSent, 0.99),
    'ms p50 after 202': quantile(sinceAccepted, 0.5),
    'ms p99 after 202': quantile(sinceAccepted, 0.99),
  }
}

async function send(sender: Sender, n: number): Promise<Sent> {
  const sentAt = performance.now()
  const { id } = await post(sender, MESSAGES, event(n))
  return { id, sentAt, acceptedAt: performance.now() }
}

function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
}
