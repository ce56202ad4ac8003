import { and, asc, desc, eq, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import type { Environment } from '../../../platform/engines.ts'
import { EVENT_TYPES_SEEN } from '../limits.ts'
import { relayEventTypes as types } from '../schema.ts'

export type EventTypeRow = typeof types.$inferSelect
export type EventTypeKey = Pick<EventTypeRow, 'tenantId' | 'environment' | 'name'>

/** Types of an environment, or only those whose name begins with `prefix`. */
export interface EventTypesQuery extends Pick<EventTypeRow, 'tenantId' | 'environment'> {
  prefix?: string | undefined
}

export type SeenType = Pick<EventTypeRow, 'name' | 'lastSeenAt'>

/** Sorts after every character that a name can have. */
const BEHIND_ALL = '\uffff'

export function createEventTypeStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const inEnvironment = and(
    eq(types.tenantId, $('tenantId')),
    eq(types.environment, $('environment')),
  )
  const mine = and(inEnvironment, eq(types.name, $('name')))

  const insert = orm.insert(types).values(rowOf(types)).onConflictDoNothing().prepare()
  const seen = compile(
    client,
    orm
      .update(types)
      .set({ count: sql`${types.count} + 1`, lastSeenAt: sql`${$('now')}` })
      .where(mine),
  )
  const reshape = orm
    .update(types)
    .set({ shape: sql`${$('shape')}`, drift: sql`${$('drift')}`, sample: sql`${$('sample')}` })
    .where(mine)
    .prepare()
  const find = orm.select().from(types).where(mine).prepare()
  const begins = and(
    inEnvironment,
    sql`${types.name} >= ${$('prefix')}`,
    sql`${types.name} < ${$('end')}`,
  )
  const [ascending, descending] = [asc, desc].map((direction) =>
    orm
      .select()
      .from(types)
      .where(and(begins, sql`${types.name} > ${$('after')}`, sql`${types.name} < ${$('before')}`))
      .orderBy(direction(types.name))
      .limit($('limit'))
      .prepare(),
  )
  const times = orm
    .select({ name: types.name, lastSeenAt: types.lastSeenAt })
    .from(types)
    .where(begins)
    .limit(EVENT_TYPES_SEEN)
    .prepare()
  const names = orm
    .select({ name: types.name })
    .from(types)
    .where(inEnvironment)
    .orderBy(asc(types.name))
    .limit($('limit'))
    .prepare()
  const count = orm
    .select({ count: sql<number>`count(*)` })
    .from(types)
    .where(inEnvironment)
    .prepare()
  const removeUnseen = orm
    .delete(types)
    .where(
      sql`rowid in (select rowid from relay_event_types where last_seen_at < ${$('before')}
        order by last_seen_at limit ${$('limit')})`,
    )
    .returning({ name: types.name })
    .prepare()

  return {
    insert: (row: EventTypeRow) => void insert.run(row),
    /** Counts one more message. Returns false if the type is unknown. */
    seen: (key: EventTypeKey, now: number): boolean => seen.run({ ...key, now }).changes > 0,
    reshape: (key: EventTypeKey, to: Pick<EventTypeRow, 'shape' | 'drift' | 'sample'>) =>
      void reshape.run({ ...key, ...to }),
    find: (key: EventTypeKey): EventTypeRow | undefined => find.get({ ...key }),
    /** Types that begin with `prefix`, ordered by name, from those after a name. */
    list(
      { tenantId, environment, prefix = '' }: EventTypesQuery,
      of: { after?: string | undefined; isDescending: boolean; limit: number },
    ): EventTypeRow[] {
      const { after, isDescending, limit } = of
      const [statement, bound] = isDescending
        ? [descending, { after: '', before: after ?? BEHIND_ALL }]
        : [ascending, { after: after ?? '', before: BEHIND_ALL }]
      const end = `${prefix}${BEHIND_ALL}`
      return statement?.all({ tenantId, environment, prefix, end, ...bound, limit }) ?? []
    },
    /** When each of them was last seen. */
    times: ({ tenantId, environment, prefix = '' }: EventTypesQuery): SeenType[] =>
      times.all({ tenantId, environment, prefix, end: `${prefix}${BEHIND_ALL}` }),
    /** The first names, without the shapes, which may be large. */
    names: (tenantId: string, environment: Environment, limit: number): string[] =>
      names.all({ tenantId, environment, limit }).map(({ name }) => name),
    count: (tenantId: string, environment: Environment): number =>
      count.get({ tenantId, environment })?.count ?? 0,
    removeUnseen: (before: number, limit: number): number =>
      removeUnseen.all({ before, limit }).length,
  }
}
