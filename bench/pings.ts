import { MONITORS_PER_TENANT } from '../src/engines/clockwork/monitors/limits.ts'
import type { Bench } from './support/bench.ts'
import { compare } from './support/figure.ts'
import {
  createInstallation,
  issueKey,
  openBeside,
  serveInstallation,
} from './support/installation.ts'
import { load, repeater, requestText } from './support/load.ts'
import { listen } from './support/receiver.ts'
import { addEndpoint, event, MESSAGES, post, type Relay } from './support/relay.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { startFloor } from './support/server.ts'
import { renewTokens, storeMonitors } from './support/stored-monitors.ts'

const TENANTS = 10
const CLIENTS = [64, 1]
/** Pings that are sent before any is measured, and compile the code. */
const WARM_UP = 20_000
const SENDS_PER_SECOND = 50
const TARGET = 'subject >= 10,000'

/** Pings of ten thousand monitors in turn, each answered when it is on disk. */
export const pings: Bench = async ({ stack, rounds, ms }) => {
  const installation = await createInstallation(stack, TENANTS)
  await storeMonitors(installation, MONITORS_PER_TENANT)
  const requests = requestsOf(installation)
  const relay = { ...installation, ...(await issueKey(installation, 'relay')) }
  const server = await serveInstallation(stack, installation)
  const floor = await startFloor(stack, 'pings')
  await addEndpoint({ ...relay, server }, listen(stack).url)
  for (const each of [server, floor]) {
    const rest = requests.concat(requests).slice(0, WARM_UP).values()
    await load(each, { clients: CLIENTS[0] as number, request: () => rest.next().value })
  }
  const run = { subject: repeater(server, requests, ms), floor: repeater(floor, requests, ms) }

  const figures = []
  for (const clients of CLIENTS) {
    const ask = { subject: () => run.subject(clients), floor: () => run.floor(clients) }
    const samples = await alternate(rounds, ask)
    const target = clients === CLIENTS[0] ? TARGET : undefined
    figures.push(compare(named(clients), 'req/s', samples, target))
    figures.push(compare(named(clients), 'CPU µs/req', samples))
  }
  const clients = CLIENTS[0] as number
  const busy = await alternate(rounds, {
    subject: () => besideSends({ ...relay, server }, () => run.subject(clients)),
    floor: () => run.floor(clients),
  })
  const name = `${named(clients)}, ${SENDS_PER_SECOND} events a second`
  return [...figures, compare(name, 'req/s', busy, TARGET)]
}

const named = (clients: number) => (clients === 1 ? '1 client' : `${clients} clients`)

function requestsOf(installation: Parameters<typeof openBeside>[0]): string[] {
  using client = openBeside(installation)
  return renewTokens(client).map((token) => requestText(`/ping/${token}`))
}

/** Events at a steady pace, each for one endpoint, until `work` is done. */
async function besideSends(relay: Relay, work: () => Promise<Sample>): Promise<Sample> {
  let isOver = false
  const working = work().finally(() => {
    isOver = true
  })
  const sent: Promise<unknown>[] = []
  for (const start = performance.now(); !isOver; ) {
    sent.push(post(relay, MESSAGES, event(sent.length)))
    await Bun.sleep(start + (sent.length / SENDS_PER_SECOND) * 1000 - performance.now())
  }
  await Promise.all(sent)
  return await working
}
