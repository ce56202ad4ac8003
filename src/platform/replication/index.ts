import type { Config } from '../../config/index.ts'
import type { Db } from '../../db/open.ts'
import { type Clock, sleep } from '../clock.ts'
import { unavailable } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/index.ts'
import type { Siblings } from '../siblings.ts'
import { syncWithLitestream } from './litestream.ts'
import { createPairMetrics, type PairReading } from './metrics.ts'
import { openSharedFolder, type PairState, reasonAgainst, type SharedFolder } from './pair.ts'

const CONFIRM_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10] as const

/** Milliseconds between looks after a takeover, which take less than a second together. */
const PUBLISHED_LOOK_MS = 10

/** Writes are not confirmed: since when, why, and what happens to them. */
export interface Stall {
  since: number
  reason: string
  onTimeout: Config['replication']['onTimeout']
}

export type Replication = ReturnType<typeof createReplication>

/** Confirms writes by Litestream, which copies the database to object storage. */
export function createReplication(parts: {
  db: Db
  clock: Clock
  log: Log
  metrics: Metrics
  siblings: Siblings
  config: Pick<Config, 'replication' | 's3'>
}) {
  const { db, clock, log, metrics, siblings, config } = parts
  const { tenure } = siblings
  const settings = config.replication
  const { acknowledge, socket, timeoutMs, onTimeout } = settings
  const listeners: ((stall: Stall) => void)[] = []
  let stall: Stall | undefined
  let folder: SharedFolder | undefined
  metrics.gauge(
    'replication_stalled',
    'Processes that cannot reach the replica which confirms their writes.',
    () => [{ value: stall ? 1 : 0 }],
    'sum',
  )
  const duration = metrics
    .histogram(
      'replication_confirm_seconds',
      'Time that the replica takes to confirm writes.',
      CONFIRM_SECONDS,
    )
    .with({})

  createPairMetrics(metrics, () => tenure && readingOf(tenure, siblings.pair(), clock.now()))

  /** From now on, writes are acknowledged once they are replicated, if that is configured. */
  function start() {
    if (tenure) db.fenceBy(tenure.fence.isOpen)
    if (acknowledge === 'replicated') db.confirmBy({ confirm, timeoutMs, onTimeout, onChange })
  }

  async function confirm() {
    const began = clock.monotonic()
    await syncWithLitestream({ socket, file: db.file, timeoutMs })
    if (tenure) await requireTenure(tenure)
    duration.observe((clock.monotonic() - began) / 1000)
  }

  /** What is uploaded counts only where the next active server looks for it. */
  async function requireTenure({ generation, fence }: NonNullable<Siblings['tenure']>) {
    await untilPublished(fence)
    if (settings.checkLease === 'clock') return
    folder ??= openSharedFolder(config)
    const found = await folder.leases.read()
    if (found?.lease.generation !== generation) throw unavailable('another server has taken over')
  }

  async function untilPublished({ isPublished }: NonNullable<Siblings['tenure']>['fence']) {
    const until = clock.monotonic() + timeoutMs
    while (!isPublished()) {
      if (clock.monotonic() > until) throw unavailable('the database has not been uploaded yet')
      await sleep(clock, PUBLISHED_LOOK_MS)
    }
  }

  function onChange(reason: string | undefined) {
    if (reason !== undefined) {
      stall = { since: clock.now(), reason, onTimeout }
      log.error('the replica cannot be reached', { reason, writes: CONSEQUENCES[onTimeout] })
    } else if (stall) {
      const over = stall
      stall = undefined
      log.info('the replica confirms writes again', { ms: clock.now() - over.since })
      for (const listener of listeners) listener(over)
    }
  }

  return {
    start,
    /** Undefined while the replica confirms writes, or isn't asked to. */
    stall: () => stall,
    /** The other servers that share the data; undefined without any. */
    pair: siblings.pair,
    /** Calls `listener` with a stall that is over. */
    onResume: (listener: (stall: Stall) => void) => void listeners.push(listener),
  }
}

/** What is known of the standbys before the first look at them is nothing. */
function readingOf(
  { generation, fence }: NonNullable<Siblings['tenure']>,
  pair: PairState | undefined,
  now: number,
): PairReading {
  const own = { role: 'active', generation, isReady: fence.isOpen() } as const
  if (!pair) return { ...own, lagMs: undefined }
  const { standbys, lease } = pair
  const ready = standbys.filter(
    (report) => reasonAgainst(report, now, lease.ttlMs) === undefined,
  ).length
  return {
    ...own,
    standbys: { ready, notReady: standbys.length - ready },
    lagMs: standbys.length === 0 ? undefined : Math.max(...standbys.map(({ lagMs }) => lagMs)),
  }
}

const CONSEQUENCES: Record<Stall['onTimeout'], string> = {
  refuse: 'refused with 503',
  acknowledge: 'acknowledged from this disk alone, and lost with it',
}
