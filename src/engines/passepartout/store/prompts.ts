import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import type { Holders, Lane, Lease } from '../../../platform/due/queue.ts'
import { passepartoutPrompts as prompts } from '../schema.ts'

type PromptRow = typeof prompts.$inferSelect

/** A message being sent or changed; each lease has a unique id. */
export type LeasedPrompt = PromptRow & { leaseId: string }

/** Sorts after every entry of a lane, so that the next lane is found without scanning this one. */
const END_OF_TIME = sql.raw(`${Number.MAX_SAFE_INTEGER}`)

/** Prompt messages for the due loop, of all tenants. */
export function createPromptStore({ orm }: Db) {
  const $ = sql.placeholder
  const state = (name: PromptRow['state']): SQL => sql`${prompts.state} = ${sql.raw(`'${name}'`)}`
  const bySeq = eq(prompts.seq, $('seq'))
  const stillLeased = and(bySeq, eq(prompts.leaseId, $('leaseId')))

  const insert = orm
    .insert(prompts)
    .values({
      tenantId: $('tenantId'),
      botId: $('botId'),
      attemptId: $('attemptId'),
      chatId: $('chatId'),
      state: 'ready',
      tries: 0,
      dueAt: $('now'),
      createdAt: $('now'),
    })
    .prepare()
  const hurry = orm
    .update(prompts)
    .set({ state: 'ready', dueAt: sql`${$('now')}` })
    .where(
      and(
        eq(prompts.attemptId, $('attemptId')),
        state('waiting'),
        // A message that is still to be sent waits for its next attempt.
        sql`${prompts.messageId} is not null`,
      ),
    )
    .prepare()
  const firstWaiting = orm
    .select({ at: prompts.dueAt })
    .from(prompts)
    .where(state('waiting'))
    .orderBy(asc(prompts.dueAt))
    .limit(1)
    .prepare()
  const promote = orm
    .update(prompts)
    .set({ state: 'ready' })
    .where(
      sql`${prompts.seq} in (select seq from passepartout_prompts where state = 'waiting'
        and due_at <= ${$('now')} order by due_at limit ${$('limit')})`,
    )
    .returning({ seq: prompts.seq })
    .prepare()
  const nextLane = orm
    .select({ tenant: prompts.tenantId, target: prompts.botId })
    .from(prompts)
    .where(
      and(
        state('ready'),
        sql`(tenant_id, bot_id, due_at) > (${$('tenant')}, ${$('target')}, ${END_OF_TIME})`,
      ),
    )
    .orderBy(asc(prompts.tenantId), asc(prompts.botId))
    .limit(1)
    .prepare()
  const ready = orm
    .select({ seq: prompts.seq })
    .from(prompts)
    .where(and(state('ready'), eq(prompts.tenantId, $('tenant')), eq(prompts.botId, $('target'))))
    .orderBy(asc(prompts.dueAt), asc(prompts.seq))
    .limit($('limit'))
    .prepare()
  const lease = orm
    .update(prompts)
    .set({
      state: 'leased',
      tries: sql`${prompts.tries} + 1`,
      leaseOwner: sql`${$('owner')}`,
      leaseUntil: sql`${$('until')}`,
      leaseId: sql`${$('leaseId')}`,
    })
    .where(bySeq)
    .returning()
    .prepare()
  const rearm = orm
    .update(prompts)
    .set({
      state: sql`${$('state')}`,
      messageId: sql`${$('messageId')}`,
      tries: sql`${$('tries')}`,
      dueAt: sql`${$('dueAt')}`,
      leaseOwner: null,
      leaseUntil: null,
      leaseId: null,
    })
    .where(stillLeased)
    .prepare()
  const remove = orm.delete(prompts).where(stillLeased).prepare()
  const lost = orm
    .select()
    .from(prompts)
    .where(
      and(
        state('leased'),
        sql`(${prompts.leaseOwner} not in (select value from json_each(${$('alive')}))
          or (${prompts.leaseUntil} < ${$('now')} and ${prompts.leaseOwner} <> ${$('self')}))`,
      ),
    )
    .limit($('limit'))
    .prepare()

  return {
    insert: (row: Pick<PromptRow, 'tenantId' | 'botId' | 'attemptId' | 'chatId'>, now: number) =>
      void insert.run({ ...row, now }),
    /** The attempt has ended: makes its prompts due immediately. */
    hurry: (attemptId: string, now: number) => void hurry.run({ attemptId, now }),
    firstWaitingAt: (): number | undefined => firstWaiting.get()?.at,
    /** Marks up to `limit` due messages as ready and returns their number. */
    promote: (now: number, limit: number): number => promote.all({ now, limit }).length,
    nextLane: (after: Lane | undefined): Lane | undefined =>
      nextLane.get({ tenant: '', target: '', ...after }),
    /** Leases ready messages of a lane, oldest first. */
    claim: (lane: Lane, limit: number, newId: () => string, { owner, until }: Lease) =>
      ready
        .all({ ...lane, limit })
        .map(({ seq }) => lease.get({ seq, owner, until, leaseId: newId() }) as LeasedPrompt),
    /** Changes nothing if the lease is void. */
    rearm: (
      { seq, leaseId }: LeasedPrompt,
      next: Pick<PromptRow, 'state' | 'messageId' | 'tries' | 'dueAt'>,
    ) => void rearm.run({ seq, leaseId, ...next }),
    remove: ({ seq, leaseId }: LeasedPrompt) => void remove.run({ seq, leaseId }),
    lost: ({ self, alive, now }: Holders, limit: number): LeasedPrompt[] =>
      lost.all({ self, alive: JSON.stringify(alive), now, limit }) as LeasedPrompt[],
  }
}
