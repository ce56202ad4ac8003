import { bytes } from '../../views/ui/words.ts'
import type { Db } from '../db/open.ts'
import type { AlertKind, Alerts } from '../platform/alerts/index.ts'
import type { Clock } from '../platform/clock.ts'
import { MINUTE_MS } from '../platform/durations.ts'
import type { Log } from '../platform/log.ts'
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
]
const EVERY_MS = MINUTE_MS

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

  /** Commits only if something has changed. Each process checks, and the first one that notices opens. */
  async function check() {
    const conditions = instanceHealth.read().issues.flatMap(conditionOf)
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
    cancel = clock.after(EVERY_MS, () => {
      // The next check may succeed.
      check().catch((error) => log.error('health could not be checked', { error: String(error) }))
      start()
    })
  }

  return { start, stop: () => cancel(), check }
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
    default:
      return []
  }
}
