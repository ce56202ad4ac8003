import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { changesOf, rowOf } from '../../../db/placeholders.ts'
import { notificationChannels as channels } from '../schema.ts'

export type ChannelRow = typeof channels.$inferSelect

/** More than a tenant can have. */
const MAX_READ = 100

/** All SQL on channels; the tenant null is the installation. */
export function createChannelStore({ orm }: Db) {
  const $ = sql.placeholder
  const mine = sql`${channels.tenantId} is ${$('tenantId')}`
  const one = and(mine, eq(channels.id, $('id')))
  const insert = orm.insert(channels).values(rowOf(channels)).prepare()
  const update = orm
    .update(channels)
    .set(changesOf('name', 'settings', 'hint', 'kinds', 'minSeverity', 'isActive', 'updatedAt'))
    .where(one)
    .prepare()
  const list = orm
    .select()
    .from(channels)
    .where(mine)
    .orderBy(asc(channels.seq))
    .limit(MAX_READ)
    .prepare()
  const find = orm.select().from(channels).where(one).prepare()
  const remove = orm.delete(channels).where(one).returning({ id: channels.id }).prepare()
  const tried = orm.update(channels).set(changesOf('lastAt', 'lastError')).where(one).prepare()

  return {
    insert: (row: Omit<ChannelRow, 'seq'>) =>
      void insert.run({ ...row, isActive: Number(row.isActive) }),
    update: (row: ChannelRow) => void update.run({ ...row, isActive: Number(row.isActive) }),
    /** In the order of their creation. */
    list: (tenantId: string | null): ChannelRow[] => list.all({ tenantId }),
    find: (tenantId: string | null, id: string): ChannelRow | undefined =>
      find.get({ tenantId, id }),
    remove: (tenantId: string | null, id: string): boolean =>
      remove.get({ tenantId, id }) !== undefined,
    /** Stores the result of an attempt. */
    tried: (tenantId: string | null, id: string, lastAt: number, lastError: string | null) =>
      void tried.run({ tenantId, id, lastAt, lastError }),
  }
}
