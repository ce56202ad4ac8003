import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  isNotNull,
  isNull,
  lte,
  type SQL,
  sql,
} from 'drizzle-orm'
import { compile, named } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { changesOf, excludedOf, rowOf } from '../../../db/placeholders.ts'
import { tenants } from '../../../platform/schema.ts'
import { KEPT_PINGS, KEPT_TRANSITIONS, MONITORS_PER_TENANT } from './limits.ts'
import { monitorPings, monitors, monitorTransitions, monitorWatch } from './schema.ts'

export type MonitorRow = typeof monitors.$inferSelect
export type PingRow = typeof monitorPings.$inferSelect
export type TransitionRow = typeof monitorTransitions.$inferSelect

export type Store = ReturnType<typeof createStore>

/** All SQL of monitors. */
export const createStore = (db: Db) => ({
  monitors: createMonitorStore(db),
  pings: createPingStore(db),
  transitions: createTransitionStore(db),
  watch: createWatchStore(db),
})

/** The columns that pings and time change. */
const MOVING = [
  'state',
  'stateSince',
  'lastPingAt',
  'lastDurationMs',
  'startedAt',
  'startedRid',
  'expectedAt',
  'dueAt',
  'pingCount',
  'transitionCount',
] as const

/** What decides the effect of a ping. */
const PINGED = ['id', 'tenantId', 'periodSeconds', 'schedule', 'timeZone', 'graceSeconds'] as const

export type PingedMonitor = Pick<MonitorRow, (typeof PINGED)[number] | (typeof MOVING)[number]>

const DEFINING = [
  'name',
  'tags',
  'notes',
  'tokenHash',
  'token',
  'periodSeconds',
  'schedule',
  'timeZone',
  'graceSeconds',
  'updatedAt',
] as const

function createMonitorStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const ofTenant = eq(monitors.tenantId, $('tenantId'))
  const mine = and(ofTenant, eq(monitors.id, $('id')))
  const columns = getTableColumns(monitors)

  const insert = orm.insert(monitors).values(rowOf(monitors)).prepare()
  const save = orm
    .update(monitors)
    .set(changesOf(...DEFINING, ...MOVING))
    .where(mine)
    .prepare()
  const move = compile(
    client,
    orm
      .update(monitors)
      .set(changesOf(...MOVING))
      .where(mine),
  )
  const find = compile<MonitorRow>(client, orm.select(named(columns)).from(monitors).where(mine))
  const list = orm
    .select()
    .from(monitors)
    .where(ofTenant)
    .orderBy(desc(monitors.seq))
    .limit(MONITORS_PER_TENANT)
    .prepare()
  const count = orm
    .select({ count: sql<number>`count(*)` })
    .from(monitors)
    .where(ofTenant)
    .prepare()
  const remove = orm.delete(monitors).where(mine).returning({ id: monitors.id }).prepare()
  /** Not of a tenant that is being deleted. */
  const found = <Row>(secret: SQL, of: Partial<typeof columns>) =>
    compile<Row>(
      client,
      orm
        .select(named(of))
        .from(monitors)
        .innerJoin(tenants, eq(tenants.id, monitors.tenantId))
        .where(and(secret, isNull(tenants.deletionStartedAt))),
    )
  const pinged = Object.fromEntries([...PINGED, ...MOVING].map((name) => [name, columns[name]]))
  const byToken = found<PingedMonitor>(eq(monitors.tokenHash, $('hash')), pinged)
  const byBadge = found<MonitorRow>(eq(monitors.badgeToken, $('token')), columns)
  const due = orm
    .select()
    .from(monitors)
    .where(lte(monitors.dueAt, $('now')))
    .orderBy(asc(monitors.dueAt))
    .limit($('limit'))
    .prepare()
  const firstDue = compile<{ due_at: number }>(
    client,
    orm
      .select({ at: monitors.dueAt })
      .from(monitors)
      .where(isNotNull(monitors.dueAt))
      .orderBy(asc(monitors.dueAt))
      .limit(1),
  )

  return {
    insert: (row: Omit<MonitorRow, 'seq'>) => insert.run(row),
    save: (row: MonitorRow) => save.run(row),
    /** Stores what a ping or the time has changed. */
    move: (row: PingedMonitor) => move.run(row),
    find: (tenantId: string, id: string): MonitorRow | undefined => find.get({ tenantId, id }),
    /** Newest first. */
    list: (tenantId: string): MonitorRow[] => list.all({ tenantId }),
    count: (tenantId: string): number => count.get({ tenantId })?.count ?? 0,
    remove: (tenantId: string, id: string): boolean => remove.get({ tenantId, id }) !== undefined,
    byToken: (hash: string): PingedMonitor | undefined => byToken.get({ hash }),
    byBadge: (token: string): MonitorRow | undefined => byBadge.get({ token }),
    /** Across all tenants, because one watch serves all of them. */
    due: (now: number, limit: number): MonitorRow[] => due.all({ now, limit }),
    firstDueAt: (): number | undefined => firstDue.get({})?.due_at,
  }
}

/** Keeps the newest pings of each monitor. Each has a place, so that none is counted or searched. */
function createPingStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const ofMonitor = and(
    eq(monitorPings.tenantId, $('tenantId')),
    eq(monitorPings.monitorId, $('monitorId')),
  )
  const { tenantId, monitorId, place } = monitorPings
  const put = compile(
    client,
    orm
      .insert(monitorPings)
      .values(rowOf(monitorPings))
      .onConflictDoUpdate({
        target: [tenantId, monitorId, place],
        set: excludedOf(monitorPings, 'tenantId', 'monitorId', 'place'),
      }),
  )
  const list = orm.select().from(monitorPings).where(ofMonitor).limit(KEPT_PINGS).prepare()
  const start = orm
    .select({ at: sql<number | null>`max(${monitorPings.receivedAt})` })
    .from(monitorPings)
    .where(and(ofMonitor, eq(monitorPings.rid, $('rid')), eq(monitorPings.signal, 'start')))
    .prepare()
  const drop = orm.delete(monitorPings).where(ofMonitor).prepare()

  return {
    put: (row: Omit<PingRow, 'place'>) => put.run({ ...row, place: row.number % KEPT_PINGS }),
    /** Newest first. */
    list: (tenantId: string, monitorId: string): PingRow[] =>
      list.all({ tenantId, monitorId }).toSorted((one, other) => other.number - one.number),
    /** When the run began, if that is still known. */
    startOf: (tenantId: string, monitorId: string, rid: string): number | undefined =>
      start.get({ tenantId, monitorId, rid })?.at ?? undefined,
    drop: (tenantId: string, monitorId: string) => drop.run({ tenantId, monitorId }),
  }
}

function createTransitionStore({ orm }: Db) {
  const $ = sql.placeholder
  const { tenantId, monitorId, place, at } = monitorTransitions
  const ofMonitor = and(eq(tenantId, $('tenantId')), eq(monitorId, $('monitorId')))
  const put = orm
    .insert(monitorTransitions)
    .values(rowOf(monitorTransitions))
    .onConflictDoUpdate({
      target: [tenantId, monitorId, place],
      set: excludedOf(monitorTransitions, 'tenantId', 'monitorId', 'place'),
    })
    .prepare()
  const after = orm
    .select()
    .from(monitorTransitions)
    .where(and(ofMonitor, gt(at, $('since'))))
    .limit(KEPT_TRANSITIONS)
    .prepare()
  const drop = orm.delete(monitorTransitions).where(ofMonitor).prepare()
  const removeBefore = orm
    .delete(monitorTransitions)
    .where(
      sql`rowid in (select rowid from monitor_transitions where at < ${$('before')}
        order by at limit ${$('limit')})`,
    )
    .returning({ at })
    .prepare()

  return {
    put: (row: Omit<TransitionRow, 'place'>) =>
      put.run({ ...row, place: row.number % KEPT_TRANSITIONS }),
    /** Oldest first. */
    since: (tenantId: string, monitorId: string, since: number): TransitionRow[] =>
      after.all({ tenantId, monitorId, since }).toSorted((one, other) => one.number - other.number),
    drop: (tenantId: string, monitorId: string) => drop.run({ tenantId, monitorId }),
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}

/** When due monitors were last watched for, by any process. */
function createWatchStore({ orm, client }: Db) {
  const read = compile<{ watched_at: number }>(
    client,
    orm
      .select({ watchedAt: monitorWatch.watchedAt })
      .from(monitorWatch)
      .where(eq(monitorWatch.id, 1)),
  )
  const write = orm
    .insert(monitorWatch)
    .values({ id: 1, watchedAt: sql.placeholder('now') })
    .onConflictDoUpdate({ target: monitorWatch.id, set: { watchedAt: sql`excluded.watched_at` } })
    .prepare()
  return {
    watchedAt: (): number | undefined => read.get({})?.watched_at,
    setWatchedAt: (now: number) => write.run({ now }),
  }
}
