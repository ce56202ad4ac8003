import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import { DAY_MS } from '../durations.ts'
import { newId } from '../ids.ts'
import type { RetentionRule } from '../retention.ts'
import { type AlertKind, type Severity, severityOf } from './kinds.ts'
import { plainName, plainText } from './plain-text.ts'
import { type AlertRow, createAlertStore } from './store.ts'
import {
  type AlertEvent,
  announced,
  begun,
  type Course,
  closed,
  muted,
  occurred,
  resolved,
} from './transitions.ts'

export { ALERT_KINDS, type AlertKind, SEVERITIES, type Severity, titleOf } from './kinds.ts'
export { plainText } from './plain-text.ts'
export type { AlertRow, AlertState } from './store.ts'
export type { AlertEvent } from './transitions.ts'

export type Alerts = ReturnType<typeof createAlerts>

/** The condition of a subject. Null as the tenant is the installation. */
export interface AlertKey {
  tenantId: string | null
  kind: AlertKind
  /** Such as `job:<id>`. */
  subject: string
}

export interface NewAlert extends AlertKey {
  /** The name of the subject. */
  name: string
  /** Why, in a sentence. Cleaned and shortened here, since errors of others are part of it. */
  text: string
  /** The page of the console, below the tenant or the installation. */
  path: string
  /** That of the kind unless given. */
  severity?: Severity
  /** For a condition without a recovery: closes without a message so long after it occurred last. */
  closesAfterMs?: number
}

/** Open alerts of a tenant. Further ones are summed up in one. */
export const OPEN_ALERTS = 1000
const KEPT_MS = 90 * DAY_MS

/**
 * What is wrong, for tenants and the installation. A condition that comes and goes changes one row, and
 * is announced at most once an hour. All changes run inside the caller's commit.
 */
export function createAlerts({ db, clock }: { db: Db; clock: Clock }) {
  const store = createAlertStore(db)
  const listeners: (() => void)[] = []

  /** Opens an alert, or counts one more occurrence of an open one. Returns true if it was not open before. */
  function open(alert: NewAlert): boolean {
    const { tenantId, kind, subject } = alert
    const now = clock.now()
    const before = store.find(tenantId, kind, subject)
    if (before?.state !== 'open' && isFull(alert)) {
      open(overflow(tenantId))
      return false
    }
    const fields = {
      name: plainName(alert.name),
      text: plainText(alert.text),
      path: alert.path,
      severity: alert.severity ?? severityOf(kind),
      closesAfterMs: alert.closesAfterMs ?? null,
    }
    if (before) {
      change(before, { ...fields, ...occurred({ ...before, ...fields }, now) })
      return before.state !== 'open'
    }
    const course = begun({ kind, ...fields }, now)
    store.insert({ id: newId(), tenantId, subject, ...fields, ...course })
    tellIfDue(course)
    return true
  }

  /** Opens an alert of a condition that is checked again and again, and so not counted. */
  function openOnce(alert: NewAlert) {
    if (!isOpen(alert)) open(alert)
  }

  /** Whether it is open, or was in the last 90 days. */
  const isKnown = ({ tenantId, kind, subject }: AlertKey): boolean =>
    store.find(tenantId, kind, subject) !== undefined

  const isOpen = ({ tenantId, kind, subject }: AlertKey): boolean =>
    store.isOpen(tenantId, kind, subject)

  const isFull = ({ tenantId, kind }: NewAlert): boolean =>
    kind !== 'alerts.limit' && store.openCount(tenantId, OPEN_ALERTS) >= OPEN_ALERTS

  /** Ends a condition, and returns whether it was open. Costs one indexed read if it isn't. */
  function resolve({ tenantId, kind, subject }: AlertKey): boolean {
    if (!store.isOpen(tenantId, kind, subject)) return false
    const before = store.find(tenantId, kind, subject)
    if (before) change(before, resolved(before, clock.now()))
    return true
  }

  /** Ends all conditions of a subject without a message, because it was deleted or paused. */
  function close(tenantId: string | null, subject: string, kinds?: readonly AlertKind[]) {
    for (const alert of store.ofSubject(tenantId, subject))
      if ((alert.state === 'open' || alert.dueAt !== null) && (kinds?.includes(alert.kind) ?? true))
        change(alert, closed(alert, clock.now()))
  }

  /** Without messages until a time; undefined if there is no such alert. Null ends that. */
  function mute(tenantId: string | null, id: string, until: number | null): AlertRow | undefined {
    const alert = store.byId(tenantId, id)
    return alert && change(alert, muted(alert, until, clock.now()))
  }

  /** Passes what has to be announced by now to `tell`. Returns true if there may be more. */
  function announce(limit: number, tell: (event: AlertEvent, alert: AlertRow) => void): boolean {
    const now = clock.now()
    const due = store.due(now, limit)
    for (const alert of due) {
      const { event, next } = announced(alert, now)
      store.update({ ...alert, ...next })
      if (event) tell(event, { ...alert, ...next })
    }
    return due.length === limit
  }

  function change(before: AlertRow, next: Partial<AlertRow> & Course): AlertRow {
    const after = { ...before, ...next }
    store.update(after)
    tellIfDue(after)
    return after
  }

  /** A later message doesn't need to wake a loop, which looks at the first due time when it sleeps. */
  function tellIfDue({ dueAt }: Course) {
    if (dueAt !== null && dueAt <= clock.now())
      db.afterCommit(() => {
        for (const listener of listeners) listener()
      })
  }

  const retention: RetentionRule = {
    name: 'alerts',
    deleteSlice: (now, limit) => store.removeBefore(now - KEPT_MS, limit),
  }

  return {
    open,
    openOnce,
    isKnown,
    isOpen,
    resolve,
    close,
    mute,
    announce,
    firstDueAt: store.firstDueAt,
    find: store.byId,
    page: store.page,
    openCount: store.openCount,
    retention,
    /** Calls `listener` after the commit of a change that has to be announced. */
    onDue: (listener: () => void) => void listeners.push(listener),
  }
}

const overflow = (tenantId: string | null): NewAlert => ({
  tenantId,
  kind: 'alerts.limit',
  subject: 'alerts',
  name: 'Alerts',
  text: `More than ${OPEN_ALERTS} alerts are open. Further problems are only counted here.`,
  path: '/alerts',
  closesAfterMs: DAY_MS,
})
