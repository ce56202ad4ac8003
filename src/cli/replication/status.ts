import { isoTime, systemClock } from '../../platform/clock.ts'
import type { Lease } from '../../platform/replication/lease.ts'
import { reasonAgainst } from '../../platform/replication/pair.ts'
import type { Report } from '../../platform/replication/reports.ts'
import { type Command, EXIT, table } from '../command.ts'
import { type LeaseState, leaseState, sharedFolderOf } from './shared.ts'

export const replicationStatus: Command = {
  name: 'replication status',
  summary: 'Show which server is active, and whether the others could take over.',
  run: async ({ config }) => {
    const folder = sharedFolderOf(config)
    const lease = (await folder.leases.read())?.lease
    if (!lease)
      return {
        json: { active: null, standbys: [] },
        text: `No server has ever been active in ${folder.to}.`,
        exit: EXIT.failure,
      }
    const [state, reports] = await Promise.all([leaseState(folder, lease), folder.reports.list()])
    const standbys = reports.filter(({ id }) => id !== lease.server.id)
    const now = systemClock.now()
    return {
      json: { active: activeJson(lease, state), standbys: standbys.map(standbyJson(lease, now)) },
      text: [describe(lease, state), tableOf(standbys, lease, now)].join('\n\n'),
      exit: state === 'held' ? EXIT.ok : EXIT.failure,
    }
  },
}

const activeJson = (lease: Lease, state: LeaseState) => ({
  name: lease.server.name,
  state,
  generation: lease.generation,
  since: isoTime(lease.since),
  cause: lease.cause,
  from: lease.from?.name ?? null,
  loss_ms: lease.lossMs ?? null,
  acknowledge: lease.acknowledge,
  ttl_ms: lease.ttlMs,
  version: lease.version,
})

const standbyJson =
  ({ ttlMs }: Lease, now: number) =>
  (report: Report) => ({
    name: report.name,
    ready: reasonAgainst(report, now, ttlMs) === undefined,
    reason: reasonAgainst(report, now, ttlMs) ?? null,
    lag_ms: report.lagMs,
    version: report.version,
    reported_at: isoTime(report.reportedAt),
    set_aside: report.setAside,
  })

const STATES: Record<LeaseState, string> = {
  held: 'is active',
  ending: 'is about to step down',
  released: 'has stepped down, and no server is active',
  expired: 'does not renew its lease, so a standby takes over',
}

const CAUSES: Record<Lease['cause'], string> = {
  first: 'It was the first one.',
  restart: 'It was active before, and has been restarted.',
  handover: 'It took over when the one before stepped down',
  expiry: 'It took over when the one before stopped',
}

function describe(lease: Lease, state: LeaseState): string {
  const { server, generation, since, cause, from, lossMs, acknowledge } = lease
  const before = from && (cause === 'handover' || cause === 'expiry') ? `: ${from.name}.` : ''
  return [
    `${server.name} ${STATES[state]}.`,
    `Generation ${generation}, since ${isoTime(since)}. ${CAUSES[cause]}${before}`,
    ...(lossMs
      ? [`Writes of the last ${(lossMs / 1000).toFixed(1)} s before that may be lost.`]
      : []),
    `Writes are acknowledged once they are ${acknowledge === 'replicated' ? 'in object storage' : 'on its disk'}.`,
  ].join('\n')
}

function tableOf(standbys: Report[], { ttlMs }: Lease, now: number): string {
  if (standbys.length === 0) return 'There is no standby.'
  const rows = standbys.map((report) => {
    const reason = reasonAgainst(report, now, ttlMs)
    return [
      report.name,
      reason === undefined ? 'ready' : `not ready: ${reason}`,
      `${(report.lagMs / 1000).toFixed(1)} s behind`,
      `version ${report.version}`,
      `reported ${isoTime(report.reportedAt)}`,
    ]
  })
  const aside = standbys.flatMap(({ name, setAside }) =>
    setAside.map((path) => `${name} keeps a database that was set aside: ${path}`),
  )
  return [table(rows), ...aside].join('\n')
}
