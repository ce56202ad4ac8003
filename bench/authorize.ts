import { createPdp } from '../src/engines/gate/authorization/policy/pdp.ts'
import type { Bench } from './support/bench.ts'
import { compare, type Figure } from './support/figure.ts'
import { AUTHORIZE, createGateInstallation, type GateInstallation, postOf } from './support/gate.ts'
import { copyInstallation, serveInstallation } from './support/installation.ts'
import { repeater, requestText } from './support/load.ts'
import { asked, policies, question } from './support/policies.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { type Server, startFloor } from './support/server.ts'

const CLIENTS = 64
const MANY = 200
const DECISIONS = 2000

/** Authorization requests over HTTP, answered once the decision is on disk, and the time of the decision itself. */
export const authorize: Bench = async ({ stack, rounds, ms }) => {
  const installation = await createGateInstallation(stack)
  const bare = await startFloor(
    stack,
    'authorize',
    copyInstallation(stack, installation),
    installation.tenantId,
  )
  const server = await serveInstallation(stack, installation)
  const requests = installation.people.map((id) =>
    requestText(AUTHORIZE, installation.key, question(id)),
  )
  const subject = repeater(server, requests, ms)
  const floor = repeater(bare, requests, ms)

  async function besideFloor(name: string): Promise<Figure[]> {
    await requireYes(server, installation)
    const samples = await alternate(rounds, {
      subject: () => subject(CLIENTS),
      floor: () => floor(CLIENTS),
    })
    const title = `${CLIENTS} clients, ${name}`
    return [compare(title, 'req/s', samples), compare(title, 'CPU µs/req', samples)]
  }

  const starter = await besideFloor('starter set')
  await replacePolicies(server, installation, policies(MANY))
  return [...starter, ...(await besideFloor(`${MANY} policies`)), ...(await decisions(rounds))]
}

async function replacePolicies({ url }: Server, { key }: GateInstallation, text: string) {
  const request = postOf(key, { policies: text }, 'PUT')
  const answer = await fetch(`${url}/v1/gate/settings/policies`, request)
  if (!answer.ok) throw new Error(`the policies were refused: ${await answer.text()}`)
}

async function requireYes({ url }: Server, { key, people }: GateInstallation) {
  const request = postOf(key, question(people[0] as string))
  const answer = await (await fetch(url + AUTHORIZE, request)).json()
  if (answer.allowed !== true) throw new Error(`the answer was no: ${answer.reason}`)
}

/** In this process, with policies that are read already. */
async function decisions(rounds: number): Promise<Figure[]> {
  const { starter, one, many } = await alternate(rounds, {
    starter: decider(),
    one: decider(1),
    many: decider(MANY),
  })
  return [
    compare('decision, 1 policy : starter set', 'µs', { subject: one, floor: starter }, '<= 10'),
    compare(`decision, ${MANY} policies : 1`, 'µs', { subject: many, floor: one }, '<= 2'),
  ]
}

function decider(count?: number): () => Sample {
  const pdp = createPdp()
  const { tenantId } = asked
  const custom = count === undefined ? null : { tenantId, version: 1, text: policies(count) }
  return () => {
    const start = performance.now()
    for (let n = 0; n < DECISIONS; n++)
      if (!pdp.decide(asked, custom).allowed) throw new Error('the answer was no')
    return { µs: ((performance.now() - start) / DECISIONS) * 1000 }
  }
}
