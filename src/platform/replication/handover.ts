import { conflict, notFound } from '../errors.ts'
import type { Lease } from './lease.ts'
import { reasonAgainst, type SharedFolder } from './pair.ts'

/** How often a lease can be renewed between reading and writing it before this gives up. */
const ATTEMPTS = 20

/**
 * Asks the active server to step down, for the standby with the name `to` or any other one. It does so
 * within seconds. Returns the lease that is given up. Throws `conflict` if no standby could take over.
 */
export async function requestHandover(
  folder: SharedFolder,
  request: { to?: string | undefined; by: string; now: number },
): Promise<Lease> {
  const { to, by, now } = request
  const target = await readyStandby(folder, to, now)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await folder.leases.read()
    if (!found || found.lease.state === 'released')
      throw conflict('no server is active, so a standby takes over anyway')
    const { lease, etag } = found
    if (lease.server.id === target?.id)
      throw conflict(`${target.name} is the active server already`)
    const handover = { ...(target && { to: target.id }), by, at: now }
    if (await folder.leases.write({ ...lease, handover }, { etag })) return lease
  }
  throw conflict('the lease has changed again and again. Try again')
}

async function readyStandby(
  { reports, leases }: SharedFolder,
  name: string | undefined,
  now: number,
) {
  const lease = (await leases.read())?.lease
  if (!lease) throw notFound('no server has ever been active here')
  const all = (await reports.list()).filter(({ id }) => id !== lease.server.id)
  const named = name === undefined ? all : all.filter((report) => report.name === name)
  if (name !== undefined && named.length === 0) throw notFound(`there is no standby ${name}`)
  const reasons = named.map((report) => reasonAgainst(report, now, lease.ttlMs))
  const ready = named.find((_, index) => reasons[index] === undefined)
  if (!ready)
    throw conflict(
      named.length === 0
        ? 'there is no standby that could take over'
        : named
            .map((report, index) => `${report.name} cannot take over: ${reasons[index]}`)
            .join('; '),
    )
  return name === undefined ? undefined : ready
}
