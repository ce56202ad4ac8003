import { basename } from 'node:path'
import { bytes } from '../../views/ui/words.ts'
import type { FileLoss } from '../db/file-identity.ts'
import type { Db } from '../db/open.ts'
import type { AlertKind, Alerts } from '../platform/alerts/index.ts'
import type { Clock } from '../platform/clock.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../platform/durations.ts'
import type { Log } from '../platform/log.ts'
import type { Stall } from '../platform/replication/index.ts'
import type { createInstanceHealth, InstallationIssue } from './instance-health.ts'

interface Condition {
  kind: AlertKind
  subject: string
  name: string
  text: string
  path: string
}

/** The kinds that are opened and resolved here. */
const KINDS: readonly AlertKind[] = [
  'disk.low',
  'backlog.growing',
  'backup.failed',
  'backup.overdue',
  'replica.unreachable',
  'standby.missing',
  'database.set_aside',
]
const EVERY_MS = MINUTE_MS
/** Soon, because a server that has just taken over may be restarted, after which its lease is another one. */
const TAKEOVER_MS = 5 * SECOND_MS

/** Opens and resolves the alerts of the installation, by the health that the console shows, once a minute. */
export function createInstallationAlerts(parts: {
  db: Db
  clock: Clock
  log: Log
  alerts: Alerts
  instanceHealth: ReturnType<typeof createInstanceHealth>
}) {
  const { db, clock, log, alerts, instanceHealth } = parts
  let cancel = () => {}
  let cancelFirst = () => {}
  let knownDamages = 0

  async function check() {
    await checkDamage()
    const { issues } = instanceHealth.read()
    await checkHealth(issues)
    await checkTakeover(issues)
  }

  /** Reports a takeover once. Each process knows of it. */
  async function checkTakeover(issues = instanceHealth.read().issues) {
    for (const issue of issues) {
      if (issue.what !== 'failover') continue
      const alert = alertOf(issue)
      if (alerts.isKnown(alert)) continue
      await db.commit(() => {
        if (!alerts.isKnown(alert)) alerts.open(alert)
      })
    }
  }

  /** Reports all errors since the last check as one occurrence, as a damaged table causes many. */
  async function checkDamage() {
    const damages = db.damages()
    if (damages === knownDamages) return
    await openFor('SQLite reports a damaged database file. Run gatehouse doctor.')
    knownDamages = damages
  }

  /** Nothing can be stored while the files are lost, so it is reported when they are back. */
  function wasLost({ path, reason }: FileLoss) {
    const text = `${basename(path)} ${LOSSES[reason]}. Requests were refused until it was back.`
    openFor(text).catch(failed)
  }

  /** Nothing can be stored while writes are refused, so that is reported when it is over. */
  function wasStalled(stall: Stall) {
    const condition = conditionOf({ what: 'replica', stall })
    db.commit(() => {
      for (const one of condition) alerts.openOnce({ tenantId: null, ...one })
    }).catch(failed)
  }

  const openFor = (text: string) => db.commit(() => alerts.open({ ...DATABASE, text }))

  const failed = (error: unknown) =>
    log.error('health could not be checked', { error: String(error) })

  /** Commits only if something has changed. Each process checks, and the first one that notices opens. */
  async function checkHealth(issues: readonly InstallationIssue[]) {
    const conditions = issues.flatMap(conditionOf)
    const open = alerts
      .page(null, 'open', { limit: MAX_OPEN })
      .filter(({ kind }) => KINDS.includes(kind))
    const begun = conditions.filter((one) => !open.some((alert) => isSame(one, alert)))
    const ended = open.filter((alert) => !conditions.some((one) => isSame(one, alert)))
    if (begun.length + ended.length === 0) return
    await db.commit(() => {
      for (const one of begun) alerts.openOnce({ tenantId: null, ...one })
      for (const { kind, subject } of ended) alerts.resolve({ tenantId: null, kind, subject })
    })
  }

  function start() {
    cancelFirst = clock.after(TAKEOVER_MS, () => {
      checkTakeover().catch(failed)
    })
    checkAgain()
  }

  function checkAgain() {
    cancel = clock.after(EVERY_MS, () => {
      // The next check may succeed.
      check().catch(failed)
      checkAgain()
    })
  }

  function stop() {
    cancelFirst()
    cancel()
  }

  return { start, stop, check, wasLost, wasStalled }
}

const DATABASE = {
  tenantId: null,
  kind: 'database.damaged',
  subject: 'installation',
  name: 'Installation',
  path: '/health',
  closesAfterMs: DAY_MS,
} as const

type Failover = Extract<InstallationIssue, { what: 'failover' }>

const alertOf = ({ generation, server, from, lossMs }: Failover) =>
  ({
    tenantId: null,
    kind: 'server.failed_over',
    subject: `generation:${generation}`,
    name: from,
    text: `${server} is active now. ${lossIn(lossMs)}`,
    path: '/failover',
    closesAfterMs: DAY_MS,
  }) as const

/** What a takeover may have cost. */
const lossIn = (lossMs: number | undefined): string =>
  lossMs === undefined
    ? ''
    : `Writes of the last ${(lossMs / 1000).toFixed(1)} s before that may be lost.`

/** What was wrong with a file of the database. */
const LOSSES: Record<FileLoss['reason'], string> = {
  missing: 'was moved or deleted',
  replaced: 'was replaced',
  unreachable: 'could not be reached',
}

const MAX_OPEN = 100

const isSame = (
  one: Pick<Condition, 'kind' | 'subject'>,
  other: Pick<Condition, 'kind' | 'subject'>,
) => one.kind === other.kind && one.subject === other.subject

/** The name of a queue, as the subject of a sentence. */
const QUEUES = {
  runs: 'Jobs',
  deliveries: 'Deliveries',
  'repeated deliveries': 'Repeated deliveries',
} as const

function conditionOf(issue: InstallationIssue): Condition[] {
  const of = { subject: 'installation', name: 'Installation', path: '/health' }
  switch (issue.what) {
    case 'room':
      return [
        { ...of, kind: 'disk.low', text: `${bytes(issue.freeBytes)} of disk space are free.` },
      ]
    case 'queue':
      return [
        {
          ...of,
          kind: 'backlog.growing',
          subject: `queue:${issue.name}`,
          name: QUEUES[issue.name],
          text: `The oldest has been due for ${Math.round(issue.lagMs / MINUTE_MS)} minutes.`,
        },
      ]
    case 'backup failed':
      return [
        {
          ...of,
          kind: 'backup.failed',
          path: '/backups',
          text: `${issue.row.error ?? 'unknown'}.`,
        },
      ]
    case 'no backup':
      return [
        {
          ...of,
          kind: 'backup.overdue',
          path: '/backups',
          text: 'No backup has succeeded for as long as the schedule allows.',
        },
      ]
    case 'replica':
      return [{ ...of, kind: 'replica.unreachable', text: textOn(issue.stall) }]
    case 'no standby':
      return [
        { ...of, kind: 'standby.missing', path: '/failover', text: standbysIn(issue.reasons) },
      ]
    case 'set aside':
      return [
        {
          kind: 'database.set_aside',
          subject: `server:${issue.server.id}`,
          name: issue.server.name,
          path: '/failover',
          text: `It may have writes that no other server has: ${issue.folders.join(', ')}.`,
        },
      ]
    default:
      return []
  }
}

const textOn = ({ reason, onTimeout }: Stall): string =>
  onTimeout === 'refuse'
    ? `${reason}. Writes are refused until it can be reached.`
    : `${reason}. Writes are acknowledged from this disk alone.`

/** Why no standby could take over. */
export const standbysIn = (reasons: readonly { name: string; reason: string }[]): string =>
  reasons.length === 0
    ? 'No other server stands by.'
    : `${reasons.map(({ name, reason }) => `${name}: ${reason}`).join('; ')}.`
