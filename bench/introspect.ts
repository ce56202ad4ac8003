import type { Plan } from '../src/platform/tenants.ts'
import type { Bench } from './support/bench.ts'
import { compare, type Figure } from './support/figure.ts'
import { createGateInstallation, INTROSPECT, postOf } from './support/gate.ts'
import { serveInstallation } from './support/installation.ts'
import { repeater, requestText } from './support/load.ts'
import { alternate } from './support/rounds.ts'
import { requireSame } from './support/same.ts'
import { startFloor } from './support/server.ts'

/** The busiest first: it warms the code up for those that ask less often. */
const CLIENTS = [64, 16, 1]
const MAX_CLIENTS = 64
const FEW = 1000
const TARGET = '>= 0.75'

/** Valid access tokens, introspected over HTTP with the key of their tenant. */
export const introspect: Bench = async ({ stack, rounds, ms, stored, note }) => {
  const few = await startAsked(stack, FEW, ms)
  const figures: Figure[] = []
  for (const clients of CLIENTS) figures.push(...(await besideFloor(few, clients, rounds)))
  figures.push(...(await onMeteredPlan(stack, few, rounds, ms)))
  const empty = repeater(await startFloor(stack, 'empty'), few.requests, ms)
  note(await generatorNote(empty, few.floor, rounds))
  const many = await startAsked(stack, stored, ms)
  return [...figures, ...(await amongMany(many, few, stored, rounds))]
}

type Ask = ReturnType<typeof repeater>
type Asked = Awaited<ReturnType<typeof startAsked>>

async function generatorNote(empty: Ask, floor: Ask, rounds: number): Promise<string> {
  const samples = await alternate(rounds, {
    subject: () => empty(MAX_CLIENTS),
    floor: () => floor(MAX_CLIENTS),
  })
  const { ratio } = compare('', 'req/s', samples)
  return `introspect: the load generator reaches ${ratio.median.toFixed(1)} times the floor's rate`
}

/** Responses to a tenant with a monthly allowance contain what is left of it. */
async function onMeteredPlan(
  stack: AsyncDisposableStack,
  unlimited: Asked,
  rounds: number,
  ms: number,
) {
  const metered = await startAsked(stack, FEW, ms, 'metered')
  const samples = await alternate(rounds, {
    subject: () => metered.subject(MAX_CLIENTS),
    floor: () => unlimited.subject(MAX_CLIENTS),
  })
  const name = `${MAX_CLIENTS} clients, metered plan : unlimited`
  return [compare(name, 'req/s', samples), compare(name, 'CPU µs/req', samples)]
}

async function amongMany(many: Asked, few: Asked, stored: number, rounds: number) {
  const samples = await alternate(rounds, {
    many: () => many.subject(MAX_CLIENTS),
    few: () => few.subject(MAX_CLIENTS),
    floor: () => many.floor(MAX_CLIENTS),
  })
  const among = { subject: samples.many, floor: samples.few }
  const beside = { subject: samples.many, floor: samples.floor }
  const name = `${MAX_CLIENTS} clients, ${stored.toLocaleString('en')}`
  const itself = `${name} : ${FEW.toLocaleString('en')} stored`
  return [
    compare(itself, 'req/s', among, '1'),
    compare(itself, 'CPU µs/req', among),
    compare(`${name} stored, both`, 'req/s', beside, TARGET),
    compare(`${name} stored, both`, 'CPU µs/req', beside),
  ]
}

/** The program and its floor, on the same rows in the same file. */
async function startAsked(
  stack: AsyncDisposableStack,
  stored: number,
  ms: number,
  plan: Plan = 'unlimited',
) {
  const { key, tokens, ...installation } = await createGateInstallation(stack, stored, plan)
  const subject = await serveInstallation(stack, installation)
  const floor = await startFloor(stack, 'introspect', installation.dataDir)
  const questions = tokens.map((access_token) => ({ access_token }))
  for (const question of questions.slice(0, 10))
    await requireSame(subject, floor, INTROSPECT, postOf(key, question))
  const requests = questions.map((question) => requestText(INTROSPECT, key, question))
  return {
    requests,
    subject: repeater(subject, requests, ms),
    floor: repeater(floor, requests, ms),
  }
}

async function besideFloor(
  { subject, floor }: Asked,
  clients: number,
  rounds: number,
): Promise<Figure[]> {
  const samples = await alternate(rounds, {
    subject: () => subject(clients),
    floor: () => floor(clients),
  })
  const name = clients === 1 ? '1 client' : `${clients} clients`
  const target = clients === MAX_CLIENTS ? TARGET : undefined
  return [compare(name, 'req/s', samples, target), compare(name, 'CPU µs/req', samples)]
}
