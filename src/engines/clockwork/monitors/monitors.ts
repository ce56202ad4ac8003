import type { Db } from '../../../db/open.ts'
import type { Alerts } from '../../../platform/alerts/index.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Clock } from '../../../platform/clock.ts'
import { mintSecret, sha256 } from '../../../platform/crypto.ts'
import { conflict, fail, notFound } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import type { Metering } from '../../../platform/metering/index.ts'
import type { Sealing } from '../../../platform/sealing/index.ts'
import { checkedTimeZone, UTC } from '../../../platform/time-zone.ts'
import { subjectOf } from './alerts.ts'
import { checkDescription } from './checks.ts'
import {
  checkExpectation,
  chosenBetween,
  type Expectation,
  graceMs,
  nextExpected,
} from './expectation.ts'
import { MONITORS_PER_TENANT, USUAL_GRACE_SECONDS } from './limits.ts'
import type { Monitor, MonitorChange, MonitorQuery, NewMonitor, Ping } from './model.ts'
import { createPresent, presentPing } from './present.ts'
import { monitorToken } from './sealed.ts'
import { paused, rescheduled, resumed, unpinged } from './states.ts'
import type { MonitorRow, Store } from './store.ts'
import type { Transitions } from './transitions.ts'

export type Monitors = ReturnType<typeof createMonitors>

/** The tenants' monitors. Changes are in the audit log. */
export function createMonitors(parts: {
  db: Db
  clock: Clock
  audit: Audit
  alerts: Alerts
  metering: Metering
  sealing: Sealing
  store: Store
  transitions: Transitions
  baseUrl: () => string
}) {
  const { db, clock, audit, alerts, metering, sealing, store, transitions } = parts
  const present = createPresent(parts)

  /** Newest first. */
  const list = (caller: Caller, { tag, state }: MonitorQuery = {}): Monitor[] =>
    store.monitors
      .list(caller.tenantId)
      .filter((row) => state === undefined || row.state === state)
      .filter((row) => tag === undefined || JSON.parse(row.tags).includes(tag))
      .map((row) => present(row, caller))

  const get = (caller: Caller, id: string): Monitor => present(existing(caller, id), caller)

  async function create(caller: Caller, input: NewMonitor): Promise<Monitor> {
    const { tenantId } = caller
    const row = newRow(tenantId, input)
    checkDescription(row)
    checkExpectation(row, row.createdAt)
    metering.reserve(caller)
    return db.commitFor(tenantId, () => {
      if (store.monitors.count(tenantId) >= MONITORS_PER_TENANT)
        throw conflict(`limit reached: ${MONITORS_PER_TENANT} monitors; delete one first`)
      store.monitors.insert(row)
      record(caller, 'monitor.created', row.id)
      return present({ ...row, seq: 0 }, caller)
    })
  }

  function newRow(tenantId: string, input: NewMonitor) {
    const now = clock.now()
    const id = newId()
    return {
      id,
      tenantId,
      name: input.name,
      tags: tagsText(input.tags),
      notes: input.notes ?? '',
      ...newToken(id),
      badgeToken: mintSecret(),
      ...expectationOf(input),
      ...unpinged(now),
      pingCount: 0,
      transitionCount: 0,
      createdAt: now,
      updatedAt: now,
    }
  }

  function newToken(id: string): Pick<MonitorRow, 'token' | 'tokenHash'> {
    const token = mintSecret()
    const { purpose, boundTo } = monitorToken
    return { tokenHash: sha256(token), token: sealing.seal(purpose, boundTo({ id }), token) }
  }

  /** Changes only what is given. */
  const update = (caller: Caller, id: string, change: MonitorChange): Promise<Monitor> =>
    edit(caller, id, {
      action: 'monitor.updated',
      detail: { fields: Object.keys(change) },
      apply(old, now) {
        const row = { ...old, ...changedColumns(old, change) }
        checkDescription(row)
        checkExpectation(row, now)
        const isRescheduled = EXPECTATION.some((name) => row[name] !== old[name])
        return isRescheduled ? { ...row, ...rescheduled(row, now) } : row
      },
    })

  const pause = (caller: Caller, id: string): Promise<Monitor> =>
    edit(caller, id, {
      action: 'monitor.paused',
      apply: (old, now) => (old.state === 'paused' ? old : { ...old, ...paused(old, now) }),
    })

  const resume = (caller: Caller, id: string): Promise<Monitor> =>
    edit(caller, id, {
      action: 'monitor.resumed',
      apply: (old, now) => (old.state === 'paused' ? { ...old, ...resumed(old, now) } : old),
    })

  /** The old ping URL stops working at once. */
  const rotateToken = (caller: Caller, id: string): Promise<Monitor> =>
    edit(caller, id, {
      action: 'monitor.token_rotated',
      apply: (old) => ({ ...old, ...newToken(id) }),
    })

  function edit(
    caller: Caller,
    id: string,
    of: {
      action: string
      detail?: Record<string, unknown>
      apply: (old: MonitorRow, now: number) => MonitorRow
    },
  ): Promise<Monitor> {
    return db.commitFor(caller.tenantId, () => {
      const now = clock.now()
      const old = existing(caller, id)
      const changed = of.apply(old, now)
      if (changed === old) return present(old, caller)
      const row = { ...transitions.moved(old, changed, now), updatedAt: now }
      store.monitors.save(row)
      record(caller, of.action, id, of.detail)
      return present(row, caller)
    })
  }

  /** Deletes a monitor with its pings. */
  function remove(caller: Caller, id: string): Promise<void> {
    const { tenantId } = caller
    return db.commitFor(tenantId, () => {
      if (!store.monitors.remove(tenantId, id)) throw notFound('monitor not found')
      store.pings.drop(tenantId, id)
      store.transitions.drop(tenantId, id)
      alerts.close(tenantId, subjectOf(id))
      record(caller, 'monitor.deleted', id)
    })
  }

  /** When pings are expected after one that arrives now. Throws `invalid`. */
  function expected(input: Omit<NewMonitor, 'name'>): ExpectedPings {
    const now = clock.now()
    const expectation = expectationOf(input)
    checkExpectation(expectation, now)
    const times: number[] = []
    for (let at = nextExpected(expectation, now); at && times.length < PREVIEWED; )
      at = nextExpected(expectation, times[times.push(at) - 1] as number)
    const { timeZone } = expectation
    return { times, downAt: (times[0] ?? now) + graceMs(expectation), timeZone }
  }

  /** The last 100, newest first. */
  function pings(tenantId: string, id: string): Ping[] {
    existing({ tenantId }, id)
    return store.pings.list(tenantId, id).map(presentPing)
  }

  const existing = ({ tenantId }: Pick<Caller, 'tenantId'>, id: string): MonitorRow =>
    store.monitors.find(tenantId, id) ?? fail(notFound('monitor not found'))

  const record = (caller: Caller, action: string, id: string, detail?: Record<string, unknown>) =>
    audit.record({
      tenantId: caller.tenantId,
      actor: caller.actor,
      action,
      object: `monitor:${id}`,
      ...(detail && { detail }),
    })

  return { list, get, create, update, pause, resume, rotateToken, remove, expected, pings }
}

/** When a monitor expects pings, and until when it waits for the first. */
export interface ExpectedPings {
  times: readonly number[]
  downAt: number
  timeZone: string
}

const PREVIEWED = 3

const expectationOf = (input: Omit<NewMonitor, 'name'>): Expectation => ({
  ...chosenBetween({}, { periodSeconds: input.period_seconds, schedule: input.schedule }),
  timeZone: checkedTimeZone(input.time_zone ?? UTC),
  graceSeconds: input.grace_seconds ?? USUAL_GRACE_SECONDS,
})

const EXPECTATION = ['periodSeconds', 'schedule', 'timeZone', 'graceSeconds'] as const

const tagsText = (tags: readonly string[] = []): string => JSON.stringify([...new Set(tags)])

function changedColumns(old: MonitorRow, change: MonitorChange): Partial<MonitorRow> {
  const { name, tags, notes, schedule, period_seconds, time_zone, grace_seconds } = change
  return {
    ...(name !== undefined && { name }),
    ...(tags !== undefined && { tags: tagsText(tags) }),
    ...(notes !== undefined && { notes }),
    ...chosenBetween(old, { periodSeconds: period_seconds, schedule }),
    ...(time_zone !== undefined && { timeZone: checkedTimeZone(time_zone) }),
    ...(grace_seconds !== undefined && { graceSeconds: grace_seconds }),
  }
}
