import {
  and,
  asc,
  eq,
  getTableColumns,
  inArray,
  lte,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { compile, named } from '../../db/compile.ts'
import type { Db } from '../../db/open.ts'
import type { Holders, Lane, Lease } from './queue.ts'

type ColumnName = 'seq' | 'tenantId' | 'state' | 'dueAt' | 'leaseOwner' | 'leaseUntil'

/** A table with the columns of a queue, all of them text and integers without conversion. */
type Table = SQLiteTable &
  Record<ColumnName, AnySQLiteColumn> & { $inferSelect: Record<string, string | number | null> }

/** A row with an attempt in progress; what its lease sets is not null. */
type Leased<Row, LeaseSets extends keyof Row> = Row & {
  [name in LeaseSets]: NonNullable<Row[name]>
}

/** Sorts after everything in a lane, so that the next lane is found without scanning this one. */
const END_OF_TIME = sql.raw(`${Number.MAX_SAFE_INTEGER}`)

/** Limits counting, because a backlog may have any size and a scrape must not delay requests. */
const MAX_COUNTED = 10_000

const BEFORE_ALL_LANES: Lane = { tenant: '', target: '' }

/** Limits the lanes that are searched for the oldest row. */
const MAX_LANES = 500

/**
 * The statements with which a due loop works through a job queue table. They cover all tenants. The
 * state of a row is its position in the loop: `waiting` until `dueAt`, `ready` in its lane, or
 * `leased` to the process `leaseOwner` until `leaseUntil`, for an attempt with its own id. Rows in
 * other states are ignored. Times are in milliseconds since the epoch.
 *
 * Each state needs a partial index, `where state = '…'`: waiting rows by (filter, due_at), ready
 * rows by (filter, tenant_id, target, due_at, seq), leased rows, which are few, by anything. SQLite
 * uses such an index only if the statement has the state as a literal.
 */
export function createQueueTable<
  T extends Table,
  LeaseId extends keyof T['$inferSelect'] & string,
  LeaseSets extends keyof T['$inferSelect'] & string = never,
>(
  { orm, client }: Db,
  table: T,
  parts: {
    /** The column by which a tenant has several lanes; otherwise, targets are empty. */
    target?: keyof T['$inferSelect'] & string
    /** The column with the id of the attempt in progress. */
    leaseId: LeaseId
    /** Other columns that a lease sets. */
    leaseSets?: readonly LeaseSets[]
    /** The rows that are in this queue, if the table has several queues. */
    filter?: SQL
  },
) {
  type Row = T['$inferSelect']
  type LeasedRow = Leased<Row, LeaseId | LeaseSets>

  const { target, leaseId, leaseSets = [], filter } = parts
  const { seq, tenantId, state, dueAt, leaseOwner, leaseUntil }: Table = table
  const columns: Record<string, AnySQLiteColumn> = getTableColumns<Table>(table)
  const column = (name: string) => columns[name] as AnySQLiteColumn
  const $ = sql.placeholder
  const lane = target ? [tenantId, column(target)] : [tenantId]
  const laneValues = [$('tenant'), $('target')].slice(0, lane.length)
  const inState = (name: 'waiting' | 'ready' | 'leased') =>
    and(sql`${state} = ${sql.raw(`'${name}'`)}`, filter)
  const bySeq = eq(seq, $('seq'))
  const select = (selected: Record<string, SQLWrapper>) =>
    orm.select(named(selected)).from<Table>(table)

  const firstWaiting = compile<{ dueAt: number }>(
    client,
    select({ dueAt }).where(inState('waiting')).orderBy(asc(dueAt)).limit(1),
  )
  const due = orm
    .select({ seq })
    .from<Table>(table)
    .where(and(inState('waiting'), lte(dueAt, $('cutoff'))))
    .orderBy(asc(dueAt))
    .limit($('limit'))
  const promote = compile(
    client,
    orm.update<Table>(table).set({ state: 'ready' }).where(inArray(seq, due)),
  )
  const nextLane = compile<Lane & { dueAt: number }>(
    client,
    select({ tenant: tenantId, target: lane[1] ?? sql`''`, dueAt })
      .where(and(inState('ready'), sql`${[...lane, dueAt]} > ${[...laneValues, END_OF_TIME]}`))
      .orderBy(...lane.map((column) => asc(column)), asc(dueAt))
      .limit(1),
  )
  // No comparison finds the rows without a tenant: their lanes come before those of all tenants.
  const firstOwnLane = () =>
    compile<Lane & { dueAt: number }>(
      client,
      select({ tenant: sql`''`, target: lane[1] ?? sql`''`, dueAt })
        .where(
          and(
            inState('ready'),
            sql`${tenantId} is null`,
            lane[1] && sql`${lane[1]} > ${$('target')}`,
          ),
        )
        .orderBy(...[...lane.slice(1), dueAt].map((column) => asc(column)))
        .limit(1),
    )
  const ownLane = tenantId.notNull ? undefined : firstOwnLane()
  // Unlike `=`, `is` also finds the rows without a tenant.
  const inLane = lane.map((column, n) => sql`${column} is ${laneValues[n]}`)
  const ready = compile<Row>(
    client,
    select(columns)
      .where(and(inState('ready'), ...inLane))
      .orderBy(asc(dueAt), asc(seq))
      .limit($('limit')),
  )
  const lease = compile(
    client,
    orm
      .update<Table>(table)
      .set({
        ...Object.fromEntries([leaseId, ...leaseSets].map((name) => [name, sql`${$(name)}`])),
        state: 'leased',
        leaseOwner: sql`${$('owner')}`,
        leaseUntil: sql`${$('until')}`,
      })
      .where(and(bySeq, inState('ready'))),
  )
  const lost = compile<LeasedRow>(
    client,
    select(columns)
      .where(
        and(
          inState('leased'),
          sql`(${leaseOwner} not in (select value from json_each(${$('alive')}))
            or (${leaseUntil} < ${$('now')} and ${leaseOwner} <> ${$('self')}))`,
        ),
      )
      .limit($('limit')),
  )
  const counted = (name: 'waiting' | 'ready') =>
    compile<{ count: number }>(
      client,
      orm
        .select({ count: sql`count(*)`.as('count') })
        .from(select({ seq }).where(inState(name)).limit(MAX_COUNTED).as('some')),
    )
  const counts = { waiting: counted('waiting'), ready: counted('ready') }

  /** The lane after `after`, with the due time of its first row. */
  const laneAfter = (after?: Lane) =>
    ownLaneAfter(after) ?? nextLane.get({ ...(after ?? BEFORE_ALL_LANES) })

  function ownLaneAfter(after: Lane | undefined) {
    const isBehind = after && (after.tenant !== '' || !target)
    return isBehind ? undefined : ownLane?.get({ target: after?.target ?? '' })
  }
  const findLost = ({ self, alive, now }: Holders, limit: number): LeasedRow[] =>
    lost.all({ self, alive: JSON.stringify(alive), now, limit })

  return {
    firstWaitingAt: (): number | undefined => firstWaiting.get({})?.dueAt,
    /** Makes up to `limit` rows ready that are due by `cutoff`; true if there may be more. */
    promote: (cutoff: number, limit: number): boolean =>
      promote.run({ cutoff, limit }).changes === limit,
    nextLane: laneAfter,
    /** Ready rows of a lane, oldest first; an empty tenant stands for rows without one. */
    ready: ({ tenant, target }: Lane, limit: number): Row[] =>
      ready.all({ tenant: tenant || null, target, limit }),
    /** Leases a ready row; undefined if it isn't ready any more. */
    lease: (
      row: Row,
      set: Pick<LeasedRow, LeaseId | LeaseSets>,
      { owner, until }: Lease,
    ): LeasedRow | undefined =>
      lease.run({ seq: row.seq, owner, until, ...set }).changes === 1
        ? { ...row, ...set, state: 'leased', leaseOwner: owner, leaseUntil: until }
        : undefined,
    /** Matches a leased row by `seq` and attempt id, but not after its lease was taken back. */
    stillLeased: and(bySeq, eq(column(leaseId), $(leaseId))),
    /** The values that end a lease. */
    unleased: { leaseOwner: null, leaseUntil: null, [leaseId]: null } as Record<
      'leaseOwner' | 'leaseUntil' | LeaseId,
      null
    >,
    hasLost: (holders: Holders): boolean => findLost(holders, 1).length > 0,
    /** Rows whose lease is held by a dead process, or has expired at another one. */
    lost: findLost,
    /** The number of ready rows, counted up to 10,000. */
    readyCount: (): number => counts.ready.get({})?.count ?? 0,
    waitingCount: (): number => counts.waiting.get({})?.count ?? 0,
    /** How long the oldest ready row has been due, in milliseconds, among the first 500 lanes. */
    lagMs(now: number): number {
      let oldest = now
      let lane = laneAfter()
      for (let n = 0; lane && n < MAX_LANES; n++) {
        oldest = Math.min(oldest, lane.dueAt)
        lane = laneAfter(lane)
      }
      return now - oldest
    },
  }
}
