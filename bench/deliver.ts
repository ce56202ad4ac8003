import type { Bench } from './support/bench.ts'
import { makeCalls } from './support/calls.ts'
import { withCpu } from './support/cpu.ts'
import { compare } from './support/figure.ts'
import { openBeside } from './support/installation.ts'
import { load, requestText } from './support/load.ts'
import { addEndpoint, event, MESSAGES, post, type Relay, startRelay } from './support/relay.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { startFloor } from './support/server.ts'

const ENDPOINTS = 16
/** How many first attempts a tenant may have under way: see src/delivery/limits.ts. */
const CONCURRENCY = 128
const POLL_MS = 5

/** A backlog of events, each for one of 16 endpoints, until the last result is stored. */
export const deliver: Bench = async ({ stack, rounds, due }) => {
  const target = await startFloor(stack, 'target', `${ENDPOINTS}`)
  const urls = Array.from(
    { length: ENDPOINTS },
    (_, n) => `${target.url.replace('127.0.0.1', `127.0.0.${n + 1}`)}/hooks/${n}`,
  )
  const floor = await startFloor(stack, 'deliver')
  const relay = await startRelay(stack)
  for (const [n, url] of urls.entries()) await addEndpoint(relay, url, { event_types: [typeOf(n)] })
  const backlog = openBacklog(stack, relay)

  const plan = { client: 'outbound', urls, calls: due, concurrency: CONCURRENCY } as const
  const samples = await alternate(Math.ceil(rounds / 2), {
    subject: () => drain(relay, backlog, due),
    floor: async () => rateOf(await makeCalls(floor, plan), due),
  })
  return [
    compare(`${ENDPOINTS} endpoints : same client`, 'deliveries/s', samples),
    compare(`${ENDPOINTS} endpoints : same client`, 'CPU µs/call', samples),
  ]
}

const typeOf = (n: number) => `invoice.paid.${n % ENDPOINTS}`

type Backlog = ReturnType<typeof openBacklog>

/** The endpoints are paused while the events come in; the last event wakes the dispatcher. */
async function drain(relay: Relay, backlog: Backlog, due: number): Promise<Sample> {
  backlog.pause()
  let sent = 0
  const request = () =>
    ++sent < due ? requestText(MESSAGES, relay.key, event(sent, typeOf(sent))) : undefined
  await load(relay.server, { clients: 64, request })
  backlog.release()
  const start = performance.now()
  const { result, cpu } = await withCpu(relay.server.pid, async () => {
    await post(relay, MESSAGES, event(due, typeOf(due)))
    while (backlog.isOpen()) await Bun.sleep(POLL_MS)
    return performance.now() - start
  })
  if (backlog.hasFailures()) throw new Error('a delivery failed')
  return rateOf({ ms: result, 'CPU µs/call': (cpu / due) * 1000 }, due)
}

const rateOf = ({ ms = Number.NaN, ...rest }: Sample, calls: number): Sample => ({
  ...rest,
  'deliveries/s': (calls / ms) * 1000,
})

/**
 * Changes the database of the server from outside. An endpoint that is switched on by the API
 * starts slowly; here nothing had gone wrong, so that all is ready at once.
 */
function openBacklog(stack: AsyncDisposableStack, relay: Relay) {
  const client = stack.use(openBeside(relay))
  const open = client.prepare(
    `SELECT 1 FROM deliveries WHERE state = 'ready'
     UNION ALL SELECT 1 FROM deliveries WHERE state = 'leased' LIMIT 1`,
  )
  const failed = client.prepare("SELECT 1 FROM attempts WHERE status <> 'succeeded' LIMIT 1")
  return {
    pause: () => client.run('UPDATE endpoints SET is_active = 0'),
    release: client.transaction(() => {
      client.run('UPDATE endpoints SET is_active = 1')
      client.run("UPDATE deliveries SET state = 'ready' WHERE state = 'held'")
    }).immediate,
    isOpen: () => open.get() !== null,
    hasFailures: () => failed.get() !== null,
  }
}
