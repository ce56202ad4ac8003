import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { createQueueTable } from '../../../platform/due/queue-table.ts'
import { passepartoutPrompts as prompts } from '../schema.ts'

type PromptRow = typeof prompts.$inferSelect

/** A message being sent or changed; each lease has a unique id. */
export type LeasedPrompt = PromptRow & { leaseId: string }

/** Prompt messages. */
export function createPromptStore(db: Db) {
  const { orm } = db
  const $ = sql.placeholder
  const { stillLeased, unleased, ...queue } = createQueueTable(db, prompts, {
    target: 'botId',
    leaseId: 'leaseId',
    leaseSets: ['tries'],
  })

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
        sql`${prompts.state} = 'waiting'`,
        // A message that is still to be sent waits for its next attempt.
        sql`${prompts.messageId} is not null`,
      ),
    )
    .prepare()
  const rearm = orm
    .update(prompts)
    .set({
      state: sql`${$('state')}`,
      messageId: sql`${$('messageId')}`,
      tries: sql`${$('tries')}`,
      dueAt: sql`${$('dueAt')}`,
      ...unleased,
    })
    .where(stillLeased)
    .prepare()
  const remove = orm.delete(prompts).where(stillLeased).prepare()

  return {
    ...queue,
    insert: (row: Pick<PromptRow, 'tenantId' | 'botId' | 'attemptId' | 'chatId'>, now: number) =>
      void insert.run({ ...row, now }),
    /** The attempt has ended: makes its prompts due immediately. */
    hurry: (attemptId: string, now: number) => void hurry.run({ attemptId, now }),
    /** Changes nothing if the lease is void. */
    rearm: (
      { seq, leaseId }: LeasedPrompt,
      next: Pick<PromptRow, 'state' | 'messageId' | 'tries' | 'dueAt'>,
    ) => void rearm.run({ seq, leaseId, ...next }),
    remove: ({ seq, leaseId }: LeasedPrompt) => void remove.run({ seq, leaseId }),
  }
}
