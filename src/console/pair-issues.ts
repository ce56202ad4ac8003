import { DAY_MS } from '../platform/durations.ts'
import { type PairState, reasonAgainst } from '../platform/replication/pair.ts'

/** For how many times to live there may be no standby, such as while one is restarted. */
const FEW = 3

/** A problem of servers that take over from each other. */
export type PairIssue =
  | { what: 'lease'; reason: string }
  | {
      what: 'failover'
      generation: number
      server: string
      /** The server that stopped. */
      from: string
      at: number
      /** Writes of so many milliseconds may be lost; undefined if none are. */
      lossMs: number | undefined
    }
  | { what: 'no standby'; reasons: { name: string; reason: string }[] }
  | { what: 'set aside'; server: { id: string; name: string }; folders: readonly string[] }

/** What the active server knows to be wrong with itself and the standbys. */
export function pairIssuesIn(pair: PairState, now: number): PairIssue[] {
  const { lease, problem, standbys, standbyAt } = pair
  const reasons = standbys.flatMap((report) => {
    const reason = reasonAgainst(report, now, lease.ttlMs)
    return reason === undefined ? [] : [{ name: report.name, reason }]
  })
  const isAlone = reasons.length === standbys.length && now - standbyAt > FEW * lease.ttlMs
  return [
    ...(problem === undefined ? [] : [{ what: 'lease' as const, reason: problem }]),
    ...failoverIn(lease, now),
    ...(isAlone ? [{ what: 'no standby' as const, reasons }] : []),
    ...setAsideBy(pair).map((one) => ({ what: 'set aside' as const, ...one })),
  ]
}

/** A takeover from a server that had stopped is worth a look for a day. */
function failoverIn({ cause, from, since, server, ...lease }: PairState['lease'], now: number) {
  if (cause !== 'expiry' || now - since > DAY_MS) return []
  const { generation, lossMs } = lease
  const names = { server: server.name, from: from?.name ?? 'unknown' }
  return [
    { what: 'failover' as const, generation, ...names, at: since, lossMs: lossMs || undefined },
  ]
}

/** The servers that keep databases of a time when they were active, with the folders. */
const setAsideBy = ({ lease, setAside, standbys }: PairState) =>
  [{ ...lease.server, setAside }, ...standbys]
    .filter((server) => server.setAside.length > 0)
    .map(({ id, name, setAside }) => ({ server: { id, name }, folders: setAside }))
