import type { Bench } from './support/bench.ts'
import { type CallPlan, makeCalls } from './support/calls.ts'
import { withCpu } from './support/cpu.ts'
import { compare, type Figure } from './support/figure.ts'
import { openBeside } from './support/installation.ts'
import { load, requestText } from './support/load.ts'
import { loopbackUrls, writeCertificate } from './support/loopback.ts'
import { addEndpoint, event, MESSAGES, post, type Relay, startRelay } from './support/relay.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { startFloor, startFloorIn } from './support/server.ts'

const ENDPOINTS = [1, 16, 256]
/** How many first attempts a tenant, and an endpoint, may have under way: see src/delivery/limits.ts. */
const PER_TENANT = 128
const PER_ENDPOINT = 16
const POLL_MS = 5

/** A backlog of events, each for one of 1, 16 or 256 endpoints, until the last result is stored. */
export const deliver: Bench = async ({ stack, rounds, due }) => {
  const most = Math.max(...ENDPOINTS)
  const { key, cert } = await writeCertificate(stack, most)
  const targets = {
    http: await startFloor(stack, 'target', `${most}`),
    https: await startFloor(stack, 'target', `${most}`, key, cert),
  }
  const trust = { NODE_EXTRA_CA_CERTS: cert }
  const floor = await startFloorIn(trust, stack, 'deliver')

  const figures: Figure[] = []
  for (const [scheme, target] of Object.entries(targets))
    for (const count of ENDPOINTS) {
      const urls = loopbackUrls(target, count).map((url) => `${url}/hooks`)
      await using own = new AsyncDisposableStack()
      const relay = await startRelay(own, trust)
      for (const [n, url] of urls.entries())
        await addEndpoint(relay, url, { event_types: [typeOf(n, count)] })
      const backlog = openBacklog(own, relay)
      const concurrency = Math.min(PER_TENANT, PER_ENDPOINT * count)
      const plan: Omit<CallPlan, 'client'> = { urls, calls: due, concurrency }
      const samples = await alternate(Math.ceil(rounds / 2), {
        subject: () => drain(relay, backlog, { due, count }),
        floor: async () => rateOf(await makeCalls(floor, { ...plan, client: 'outbound' }), due),
        fetch: async () => rateOf(await makeCalls(floor, { ...plan, client: 'fetch' }), due),
      })
      figures.push(...compareAll(`${scheme}, ${count}`, samples))
    }
  return figures
}

const compareAll = (
  where: string,
  { subject, floor, fetch }: Record<'subject' | 'floor' | 'fetch', Sample[]>,
): Figure[] => [
  compare(`${where} : same client`, 'deliveries/s', { subject, floor }, '≥ 0.8'),
  compare(`${where} : same client`, 'CPU µs/call', { subject, floor }),
  compare(`${where} : plain fetch`, 'deliveries/s', { subject, floor: fetch }),
]

const typeOf = (n: number, endpoints: number) => `invoice.paid.${n % endpoints}`

type Backlog = ReturnType<typeof openBacklog>

/** The endpoints are paused while the events come in; the last event wakes the dispatcher. */
async function drain(
  relay: Relay,
  backlog: Backlog,
  { due, count }: { due: number; count: number },
): Promise<Sample> {
  backlog.pause()
  let sent = 0
  const request = () =>
    ++sent < due ? requestText(MESSAGES, relay.key, event(sent, typeOf(sent, count))) : undefined
  await load(relay.server, { clients: 64, request })
  backlog.release()
  const start = performance.now()
  const { result, cpu } = await withCpu(relay.server.pid, async () => {
    await post(relay, MESSAGES, event(due, typeOf(due, count)))
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
