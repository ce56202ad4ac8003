/** Also by itself: `bun bench/starvation.ts [--quick]`. */
import type { Bench } from './support/bench.ts'
import { compare, type Figure } from './support/figure.ts'
import { serveCommand } from './support/installation.ts'
import {
  addEndpoint,
  createRelayInstallation,
  event,
  MESSAGES,
  post,
  type Relay,
} from './support/relay.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { type Server, startFloor, startServer } from './support/server.ts'
import { table } from './support/table.ts'

/** The URLs of receivers that respond, and of one that never does. */
export interface Receivers {
  healthy: string
  silent: string
}

/** Milliseconds since the epoch at which the first byte of a delivery came, by message. */
export type Arrivals = Record<string, number>

const HEALTHY_ENDPOINTS = 20
const EVENTS_EACH = 20
const EVENTS_TO_SILENT = 200
/** Short turns and many of them: what else the machine does falls on both alike. */
const TURN_SHARE = 4
const ROUNDS_SHARE = 1.6
/** An attempt at the silent one takes so much of a turn: its breaker opens for the rest of it. */
const TIMEOUT_SHARE = 3 / 8
/** Of what can be configured. */
const MIN_TIMEOUT_MS = 1000
const POLL_MS = 20
const TIMEOUT_MS = 20_000

/**
 * Deliveries to healthy endpoints, from the event's request and from its 202 to the first byte
 * at the receiver, while one endpoint of the same tenant never answers; and without that one.
 */
export const starvation: Bench = async ({ stack, rounds, ms }) => {
  const turnMs = TURN_SHARE * ms
  const timeoutMs = Math.max(Math.round(turnMs * TIMEOUT_SHARE), MIN_TIMEOUT_MS)
  const subscribers = await startFloor(stack, 'subscribers')
  const receivers = await ask<Receivers>(subscribers, '/receivers')
  const open = () => openRelay(stack, receivers, timeoutMs)
  const [beside, alone] = [await open(), await open()]

  const samples = await alternate(Math.ceil(rounds * ROUNDS_SHARE), {
    subject: async () => {
      const toSilent = feedSilent(beside, receivers, turnMs)
      const sample = await feedHealthy(beside, subscribers, turnMs)
      await toSilent
      return sample
    },
    floor: () => feedHealthy(alone, subscribers, turnMs),
  })
  const name = 'beside one that never answers : without it'
  return UNITS.map((unit): Figure => compare(name, unit, samples, TARGETS[unit]))
}

const UNITS = ['ms p50', 'ms p99', 'ms p50 after 202', 'ms p99 after 202']
const TARGETS: Record<string, string> = { 'ms p99': '<= 2', 'ms p99 after 202': '<= 2' }

const ask = async <Answer>({ url }: Server, path: string): Promise<Answer> =>
  (await (await fetch(url + path)).json()) as Answer

const healthyType = (n: number) => `healthy.n${n % HEALTHY_ENDPOINTS}`

/** A server of its own with all healthy endpoints, each for a type of its own. */
async function openRelay(
  stack: AsyncDisposableStack,
  { healthy }: Receivers,
  timeoutMs: number,
): Promise<Relay> {
  const installation = await createRelayInstallation(stack)
  const command = [...serveCommand(installation.dataDir), `--relay-timeout=${timeoutMs}ms`]
  const relay = { ...installation, server: await startServer(stack, command) }
  for (let n = 0; n < HEALTHY_ENDPOINTS; n++)
    await addEndpoint(relay, healthy, { event_types: [healthyType(n)] })
  return relay
}

let silentOnes = 0

/** A new endpoint each turn, whose breaker has not opened yet. */
async function feedSilent(relay: Relay, { silent }: Receivers, ms: number) {
  const type = `silent.n${silentOnes++}`
  await addEndpoint(relay, silent, { event_types: [type] })
  await pace(EVENTS_TO_SILENT, ms, (n) => post(relay, MESSAGES, event(n, type)))
}

interface Sent {
  id: string
  sentAt: number
  acceptedAt: number
}

async function feedHealthy(relay: Relay, subscribers: Server, ms: number): Promise<Sample> {
  const sent = await pace(HEALTHY_ENDPOINTS * EVENTS_EACH, ms, (n) => send(relay, n))
  const arrivals = await arrivalsOf(subscribers, sent.length)
  const since = (from: (one: Sent) => number) =>
    sent.map((one) => (arrivals[one.id] ?? Number.NaN) - from(one))
  const sinceSent = since(({ sentAt }) => sentAt)
  const sinceAccepted = since(({ acceptedAt }) => acceptedAt)
  return {
    'ms p50': quantile(sinceSent, 0.5),
    'ms p99': quantile(sinceSent, 0.99),
    'ms p50 after 202': quantile(sinceAccepted, 0.5),
    'ms p99 after 202': quantile(sinceAccepted, 0.99),
  }
}

async function send(relay: Relay, n: number): Promise<Sent> {
  const sentAt = now()
  const { id } = await post(relay, MESSAGES, event(n, healthyType(n)))
  return { id, sentAt, acceptedAt: now() }
}

/** The same in all processes of the machine, finer than milliseconds. */
const now = () => performance.timeOrigin + performance.now()

/** So many a second at a steady pace, however long the answers take. */
async function pace<T>(rate: number, ms: number, send: (n: number) => Promise<T>): Promise<T[]> {
  const start = performance.now()
  const all: Promise<T>[] = []
  for (let n = 0; n < (rate * ms) / 1000; n++) {
    const early = start + (n / rate) * 1000 - performance.now()
    if (early > 0) await Bun.sleep(early)
    all.push(send(n))
  }
  return Promise.all(all)
}

/** Once so many have come; each event goes to one endpoint. */
async function arrivalsOf(subscribers: Server, count: number): Promise<Arrivals> {
  const deadline = performance.now() + TIMEOUT_MS
  const arrivals: Arrivals = {}
  while (Object.keys(arrivals).length < count) {
    if (performance.now() > deadline) throw new Error('a delivery did not arrive')
    await Bun.sleep(POLL_MS)
    Object.assign(arrivals, await ask<Arrivals>(subscribers, '/arrivals'))
  }
  return arrivals
}

function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
}

if (import.meta.main) {
  await using stack = new AsyncDisposableStack()
  const length = process.argv.includes('--quick') ? { rounds: 3, ms: 500 } : { rounds: 5, ms: 1000 }
  const scale = { ...length, crowd: 0, due: 0, stored: 0, minutes: 0, note: console.log, stack }
  console.log(table(await starvation(scale)))
}
