import { and, asc, eq, isNull, or, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { changesOf } from '../../../db/placeholders.ts'
import type { Environment } from '../../../platform/engines.ts'
import type { MessengerPlatform } from '../messenger.ts'
import { passepartoutBots as bots } from '../schema.ts'

export type BotRow = typeof bots.$inferSelect

export function createBotStore({ orm }: Db) {
  const $ = sql.placeholder
  const byId = eq(bots.id, $('id'))
  const insert = orm
    .insert(bots)
    .values({
      id: $('id'),
      tenantId: $('tenantId'),
      environment: $('environment'),
      platform: $('platform'),
      isEnabled: false,
      match: 'optional',
      transport: 'polling',
      revision: 0,
      health: 'ok',
      createdAt: $('now'),
      updatedAt: $('now'),
    })
    .returning()
    .prepare()
  const save = orm
    .update(bots)
    // Resets what was learned about the bot before the change.
    .set({
      ...changesOf(
        'platformBotId',
        'username',
        'name',
        'token',
        'isEnabled',
        'match',
        'transport',
        'revision',
        'updateOffset',
        'leaseOwner',
        'updatedAt',
      ),
      id: sql`${$('newId')}`,
      health: 'ok',
      issue: null,
    })
    .where(and(byId, eq(bots.tenantId, $('tenantId'))))
    .returning()
    .prepare()
  const find = orm
    .select()
    .from(bots)
    .where(and(eq(bots.tenantId, $('tenantId')), eq(bots.environment, $('environment'))))
    .prepare()
  const findById = orm.select().from(bots).where(byId).prepare()
  const findByPlatform = orm
    .select()
    .from(bots)
    .where(
      and(
        eq(bots.platform, $('platform')),
        eq(bots.platformBotId, $('platformBotId')),
        sql`${bots.token} is not null`,
      ),
    )
    .prepare()
  const ofTenant = orm
    .select()
    .from(bots)
    .where(eq(bots.tenantId, $('tenantId')))
    .orderBy(asc(bots.environment))
    .prepare()
  const all = orm.select().from(bots).orderBy(asc(bots.createdAt), asc(bots.id)).prepare()
  const receiving = orm
    .select()
    .from(bots)
    .where(sql`is_enabled = 1 and token is not null`)
    .prepare()
  const lease = orm
    .update(bots)
    .set({ leaseOwner: sql`${$('self')}` })
    .where(
      and(
        byId,
        or(
          isNull(bots.leaseOwner),
          sql`${bots.leaseOwner} not in (select value from json_each(${$('alive')}))`,
        ),
      ),
    )
    .returning({ id: bots.id })
    .prepare()
  const release = orm
    .update(bots)
    .set({ leaseOwner: null })
    .where(and(byId, eq(bots.leaseOwner, $('self'))))
    .prepare()
  const advance = orm
    .update(bots)
    .set({ updateOffset: sql`${$('offset')}`, offsetAt: sql`${$('now')}` })
    .where(and(byId, eq(bots.revision, $('revision')), eq(bots.leaseOwner, $('self'))))
    .prepare()
  const rename = orm
    .update(bots)
    .set({ username: sql`${$('username')}`, name: sql`${$('name')}` })
    .where(and(byId, eq(bots.revision, $('revision'))))
    .prepare()
  const setHealth = orm
    .update(bots)
    .set({ health: sql`${$('health')}`, issue: sql`${$('issue')}` })
    .where(and(byId, eq(bots.revision, $('revision'))))
    .prepare()

  return {
    /** Inserts a bot without a token, disabled. */
    insert: (
      row: Pick<BotRow, 'id' | 'tenantId' | 'environment' | 'platform'>,
      now: number,
    ): BotRow => insert.get({ ...row, now }),
    /** Replaces the bot with the id `id`; undefined if there is none. */
    save: (id: string, { id: newId, isEnabled, ...bot }: BotRow): BotRow | undefined =>
      save.get({ ...bot, id, newId, isEnabled: Number(isEnabled) }),
    find: (tenantId: string, environment: Environment): BotRow | undefined =>
      find.get({ tenantId, environment }),
    /** Of any tenant, for loops and webhooks. */
    byId: (id: string): BotRow | undefined => findById.get({ id }),
    /** The enabled bot with the platform id, of any tenant. */
    byPlatform: (platform: MessengerPlatform, platformBotId: string): BotRow | undefined =>
      findByPlatform.get({ platform, platformBotId }),
    ofTenant: (tenantId: string): BotRow[] => ofTenant.all({ tenantId }),
    all: (): BotRow[] => all.all(),
    /** Bots whose messages have to be received. */
    receiving: (): BotRow[] => receiving.all(),
    /** Whether `self` has acquired the lease. Leases of dead processes are void. */
    lease: (id: string, self: string, alive: string[]): boolean =>
      lease.get({ id, self, alive: JSON.stringify(alive) }) !== undefined,
    release: (id: string, self: string) => void release.run({ id, self }),
    /** Stores the next update offset, unless the bot or its lease have changed. */
    advance: (
      bot: Pick<BotRow, 'id' | 'revision'>,
      at: { self: string; offset: number; now: number },
    ) => void advance.run({ id: bot.id, revision: bot.revision, ...at }),
    rename: (bot: Pick<BotRow, 'id' | 'revision'>, as: { username: string; name: string }) =>
      void rename.run({ id: bot.id, revision: bot.revision, ...as }),
    setHealth: (
      bot: Pick<BotRow, 'id' | 'revision'>,
      health: BotRow['health'],
      issue: string | null,
    ) => void setHealth.run({ id: bot.id, revision: bot.revision, health, issue }),
  }
}
