import { and, asc, eq, sql } from 'drizzle-orm'
import { compile } from '../../db/compile.ts'
import { keyset, type Range } from '../../db/keyset.ts'
import type { Db } from '../../db/open.ts'
import { changesOf, rowOf } from '../../db/placeholders.ts'
import { alerts } from './schema.ts'

export type AlertRow = typeof alerts.$inferSelect
export type AlertState = AlertRow['state']

/** All SQL on alerts; the tenant null is the installation. */
export function createAlertStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const mine = sql`${alerts.tenantId} is ${$('tenantId')}`
  const inState = sql`${alerts.state} = ${$('state')}`
  const ofSubject = and(mine, eq(alerts.subject, $('subject')))

  // Each attempt that succeeds asks for an open alert, so this one has to be cheap.
  const open = compile<{ seq: number }>(
    client,
    orm
      .select({ seq: alerts.seq })
      .from(alerts)
      .where(and(ofSubject, eq(alerts.kind, $('kind')), sql`${alerts.state} = 'open'`)),
  )
  const find = orm
    .select()
    .from(alerts)
    .where(and(ofSubject, eq(alerts.kind, $('kind'))))
    .prepare()
  const allOfSubject = orm.select().from(alerts).where(ofSubject).prepare()
  const byId = orm
    .select()
    .from(alerts)
    .where(and(mine, eq(alerts.id, $('id'))))
    .prepare()
  const insert = orm.insert(alerts).values(rowOf(alerts)).prepare()
  const update = orm
    .update(alerts)
    .set(
      changesOf(
        'name',
        'severity',
        'text',
        'path',
        'state',
        'openedAt',
        'lastAt',
        'count',
        'resolvedAt',
        'closesAfterMs',
        'mutedUntil',
        'told',
        'toldAt',
        'dueAt',
      ),
    )
    .where(eq(alerts.seq, $('seq')))
    .prepare()
  const counted = orm
    .select({ count: sql<number>`count(*)` })
    .from(
      orm
        .select({ one: sql`1`.as('one') })
        .from(alerts)
        .where(and(mine, sql`${alerts.state} = 'open'`))
        .limit($('most'))
        .as('some'),
    )
    .prepare()
  const page = keyset(
    { key: { value: alerts.openedAt, type: 'number' }, seq: alerts.seq, isDescending: true },
    (where, orderBy) =>
      orm
        .select()
        .from(alerts)
        .where(and(mine, inState, where))
        .orderBy(...orderBy)
        .limit($('limit'))
        .prepare(),
  )
  const due = orm
    .select()
    .from(alerts)
    .where(sql`${alerts.dueAt} <= ${$('now')}`)
    .orderBy(asc(alerts.dueAt))
    .limit($('limit'))
    .prepare()
  const firstDue = compile<{ at: number }>(
    client,
    orm
      .select({ at: sql`${alerts.dueAt}`.as('at') })
      .from(alerts)
      .where(sql`${alerts.dueAt} is not null`)
      .orderBy(asc(alerts.dueAt))
      .limit(1),
  )
  const removeBefore = orm
    .delete(alerts)
    .where(
      sql`${alerts.seq} in (select seq from alerts where resolved_at < ${$('before')}
        order by resolved_at limit ${$('limit')})`,
    )
    .returning({ seq: alerts.seq })
    .prepare()

  return {
    isOpen: (tenantId: string | null, kind: string, subject: string): boolean =>
      open.get({ tenantId, kind, subject }) !== undefined,
    find: (tenantId: string | null, kind: string, subject: string): AlertRow | undefined =>
      find.get({ tenantId, kind, subject }),
    ofSubject: (tenantId: string | null, subject: string): AlertRow[] =>
      allOfSubject.all({ tenantId, subject }),
    byId: (tenantId: string | null, id: string): AlertRow | undefined => byId.get({ tenantId, id }),
    insert: (row: Omit<AlertRow, 'seq'>) => void insert.run(row),
    update: (row: AlertRow) => void update.run(row),
    /** The number of open alerts, counted up to `most`. */
    openCount: (tenantId: string | null, most: number): number =>
      counted.get({ tenantId, most })?.count ?? 0,
    /** Alerts in a state, the last opened first. */
    page: (tenantId: string | null, state: AlertState, range: Range): AlertRow[] =>
      page({ tenantId, state }, range),
    /** Of all tenants: alerts that have to be announced by `now`. */
    due: (now: number, limit: number): AlertRow[] => due.all({ now, limit }),
    firstDueAt: (): number | undefined => firstDue.get({})?.at,
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}
