import type { Bench } from './support/bench.ts'
import { compare, type Figure } from './support/figure.ts'
import { createGateInstallation, WHOAMI } from './support/gate.ts'
import { serveInstallation } from './support/installation.ts'
import { load, requestText } from './support/load.ts'
import { createRelayInstallation, event, MESSAGES } from './support/relay.ts'
import { alternate, type Runner } from './support/rounds.ts'
import type { Server } from './support/server.ts'
import { addHeldMessage, storeMessages } from './support/stored-messages.ts'

const CLIENTS = 64
const COUNTS = [2, 4]
/** Each process compiles its hot code itself, so several need more requests for it. */
const WARM_UPS = 6
/** Events on a page of a list, which costs the server far more than the client. */
const LISTED = 100

/** Reads, lists and sends of a server of several processes, each beside a server of one. */
export const processes: Bench = async ({ stack, rounds, ms }) => {
  const figures: Figure[] = []
  for (const count of COUNTS) {
    const env = { GATEHOUSE_SERVER_PROCESSES: `${count}` }
    figures.push(...(await besideOne(`${count} : 1 processes, reads`, rounds, await reads())))
    figures.push(...(await besideOne(`${count} : 1 processes, lists`, rounds, await lists())))
    figures.push(...(await besideOne(`${count} : 1 processes, sends`, rounds, await sends())))

    async function reads() {
      const { sessions, ...installation } = await createGateInstallation(stack)
      let sent = 0
      const request = () => {
        const token = sessions[sent++ % sessions.length]
        return requestText(WHOAMI, undefined, undefined, [`X-Session-Token: ${token}`])
      }
      const floor = await serveInstallation(stack, installation)
      const subject = await serveInstallation(stack, installation, env)
      return { subject: under(subject, request), floor: under(floor, request) }
    }

    async function lists() {
      const installation = await createRelayInstallation(stack)
      const floor = await serveInstallation(stack, installation)
      const relay = { ...installation, server: floor }
      storeMessages(installation, await addHeldMessage(relay), LISTED)
      const subject = await serveInstallation(stack, installation, env)
      const request = () => requestText(`${MESSAGES}?limit=${LISTED}`, installation.key)
      return { subject: under(subject, request), floor: under(floor, request) }
    }

    async function sends() {
      const [ours, theirs] = [await sender(env), await sender({})]
      return { subject: ours, floor: theirs }
    }

    async function sender(env: Record<string, string>) {
      const installation = await createRelayInstallation(stack)
      const server = await serveInstallation(stack, installation, env)
      await addHeldMessage({ ...installation, server })
      let sent = 0
      return under(server, () => requestText(MESSAGES, installation.key, event(sent++)))
    }
  }
  return figures

  function under(server: Server, request: () => string): Runner {
    return () => load(server, { clients: CLIENTS, ms, request, sleeps: true })
  }
}

async function besideOne(
  name: string,
  rounds: number,
  runners: { subject: Runner; floor: Runner },
): Promise<Figure[]> {
  for (let n = 0; n < WARM_UPS; n++) await runners.subject()
  const samples = await alternate(rounds, runners)
  return ['req/s', 'p99 ms', 'CPU µs/req'].map((unit) => compare(name, unit, samples))
}
