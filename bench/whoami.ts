import type { Bench } from './support/bench.ts'
import { compare, type Figure } from './support/figure.ts'
import { createGateInstallation, WHOAMI } from './support/gate.ts'
import { serveInstallation } from './support/installation.ts'
import { repeater, requestText } from './support/load.ts'
import { alternate } from './support/rounds.ts'
import { requireSame } from './support/same.ts'
import { startFloor } from './support/server.ts'

/** The busiest first: it warms the code up for the one that asks less often. */
const CLIENTS = [64, 1]

/** Requests for the current session over HTTP with only its token. */
export const whoami: Bench = async ({ stack, rounds, ms }) => {
  const { sessions, ...installation } = await createGateInstallation(stack)
  const server = await serveInstallation(stack, installation)
  const bare = await startFloor(stack, 'whoami', installation.dataDir, server.url)
  for (const token of sessions.slice(0, 10))
    await requireSame(server, bare, WHOAMI, { headers: { 'x-session-token': token } })
  const requests = sessions.map((token) =>
    requestText(WHOAMI, undefined, undefined, [`X-Session-Token: ${token}`]),
  )
  const subject = repeater(server, requests, ms)
  const floor = repeater(bare, requests, ms)

  const figures: Figure[] = []
  for (const clients of CLIENTS) {
    const samples = await alternate(rounds, {
      subject: () => subject(clients),
      floor: () => floor(clients),
    })
    const name = clients === 1 ? '1 client' : `${clients} clients`
    const target = clients === 1 ? undefined : '>= 0.75'
    figures.push(compare(name, 'req/s', samples, target), compare(name, 'CPU µs/req', samples))
  }
  return figures
}
