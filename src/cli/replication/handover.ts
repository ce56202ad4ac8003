import { hostname } from 'node:os'
import { sleep, systemClock } from '../../platform/clock.ts'
import { unavailable } from '../../platform/errors.ts'
import { requestHandover } from '../../platform/replication/handover.ts'
import type { Lease } from '../../platform/replication/lease.ts'
import type { SharedFolder } from '../../platform/replication/pair.ts'
import { type Answer, type Command, type Configured, EXIT } from '../command.ts'
import { serverName } from '../pair.ts'
import { sharedFolderOf } from './shared.ts'

/** The longest time until the active server has finished its requests and another one serves. */
const HANDOVER_MS = 90_000
const LOOK_MS = 200

export const replicationPromote: Command = {
  name: 'replication promote',
  summary: 'Make this standby the active server: the active one steps down for it.',
  run: (invocation) => handOver(invocation, serverName(invocation.config)),
}

export const replicationStepDown: Command = {
  name: 'replication step-down',
  summary: 'Let the active server step down for a standby, such as before an upgrade.',
  options: {
    to: { type: 'string', value: 'NAME', help: 'The standby that takes over. Default: any.' },
  },
  run: (invocation) => handOver(invocation, invocation.options.to as string | undefined),
}

async function handOver({ config }: Configured, to: string | undefined): Promise<Answer> {
  const folder = sharedFolderOf(config)
  const by = `${process.getuid?.() ?? 'unknown'}@${hostname()}`
  const began = systemClock.monotonic()
  const before = await requestHandover(folder, { to, by, now: systemClock.now() })
  const after = await nextLease(folder, before)
  const ms = Math.round(systemClock.monotonic() - began)
  return {
    json: { active: after.server.name, generation: after.generation, from: before.server.name, ms },
    text: `${after.server.name} has taken over from ${before.server.name}, after ${(ms / 1000).toFixed(1)} s.`,
    exit: EXIT.ok,
  }
}

/** The lease of the next active server, once that one uploads. Throws `unavailable` if it takes too long. */
async function nextLease(folder: SharedFolder, before: Lease): Promise<Lease> {
  const until = systemClock.monotonic() + HANDOVER_MS
  while (systemClock.monotonic() < until) {
    await sleep(systemClock, LOOK_MS)
    const lease = (await folder.leases.read())?.lease
    if (lease && lease.generation > before.generation && lease.renewal > 0) return lease
  }
  throw unavailable(
    `${before.server.name} was asked to step down, but no other server is active yet. See gatehouse replication status`,
  )
}
