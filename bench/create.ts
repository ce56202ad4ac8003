import type { Bench } from './support/bench.ts'
import { compare, type Figure } from './support/figure.ts'
import { createInstallation, serveInstallation } from './support/installation.ts'
import { cronJob } from './support/jobs.ts'
import { load, requestText } from './support/load.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { type Server, startFloor } from './support/server.ts'

const PATH = '/v1/clockwork/jobs'
/** The busiest first: it warms the code up for those that ask less often. */
const CLIENTS = [64, 16, 1]
/** A tenant may have 10,000 jobs: one tenant after the other fills up to this. */
const JOBS_EACH = 9000
const TENANTS = 64
const MAX_CLIENTS = 64

/** Jobs created over HTTP, each answered when it is on disk. */
export const create: Bench = async ({ stack, rounds, ms }) => {
  const installation = await createInstallation(stack, TENANTS)
  const keys = installation.residents.map(({ key }) => key)
  const subject = await serveInstallation(stack, installation)
  const group = await startFloor(stack, 'create', 'group')
  const single = await startFloor(stack, 'create', 'single')
  const post = {
    subject: poster(subject, keys, ms),
    group: poster(group, keys, ms),
    single: poster(single, keys, ms),
  }

  const figures: Figure[] = []
  for (const clients of CLIENTS) {
    const samples = await alternate(rounds, {
      subject: () => post.subject(clients),
      group: () => post.group(clients),
      single: () => post.single(clients),
    })
    figures.push(...compareAll(clients, samples))
  }
  return [...figures, ...(await onMeteredPlan({ stack, rounds, ms }, post.subject))]
}

/** Each of them takes one of what is left of the tenant's month. */
async function onMeteredPlan(
  { stack, rounds, ms }: Pick<Parameters<Bench>[0], 'stack' | 'rounds' | 'ms'>,
  unlimited: ReturnType<typeof poster>,
) {
  const installation = await createInstallation(stack, TENANTS, 'metered')
  const keys = installation.residents.map(({ key }) => key)
  const metered = poster(await serveInstallation(stack, installation), keys, ms)
  const samples = await alternate(rounds, {
    subject: () => metered(MAX_CLIENTS),
    floor: () => unlimited(MAX_CLIENTS),
  })
  const name = `${MAX_CLIENTS} clients, metered plan : unlimited`
  return [compare(name, 'req/s', samples), compare(name, 'CPU µs/req', samples)]
}

/** Goes on where it stopped the last time. Floors are sent the key too, and ignore it. */
function poster(server: Server, keys: string[], ms: number) {
  let posted = 0
  const request = () => {
    const key = keys[Math.floor(posted / JOBS_EACH) % keys.length]
    return requestText(PATH, key, cronJob(posted++))
  }
  return (clients: number) => load(server, { clients, ms, request })
}

function compareAll(
  clients: number,
  { subject, group, single }: Record<'subject' | 'group' | 'single', Sample[]>,
): Figure[] {
  const who = clients === 1 ? '1 client' : `${clients} clients`
  const target = clients === MAX_CLIENTS ? '>= 5' : undefined
  return [
    compare(`${who} : group commit`, 'req/s', { subject, floor: group }),
    compare(`${who} : group commit`, 'CPU µs/req', { subject, floor: group }),
    compare(`${who} : one transaction each`, 'req/s', { subject, floor: single }, target),
  ]
}
