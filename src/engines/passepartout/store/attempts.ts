import { and, asc, desc, eq, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { changesOf, rowOf } from '../../../db/placeholders.ts'
import { createSeqFrom } from '../../../db/seq-from.ts'
import { END, type Window } from '../../../platform/scan.ts'
import type { Language } from '../language.ts'
import type { Owner } from '../owner.ts'
import { passepartoutAttempts as attempts } from '../schema.ts'

export type AttemptRow = typeof attempts.$inferSelect

type NewAttempt = Pick<
  AttemptRow,
  | 'id'
  | 'tenantId'
  | 'environment'
  | 'botId'
  | 'nonceHash'
  | 'linkHash'
  | 'clientIp'
  | 'clientUserAgent'
  | 'clientLabel'
  | 'matchCode'
  | 'choices'
  | 'language'
  | 'createdAt'
  | 'expiresAt'
>

/** The data for a status request, as SQLite returns it. */
export interface AskedAttempt {
  id: string
  state: AttemptRow['state']
  expires_at: number
  access_token: string | null
  person_id: string | null
}

/** How a callback ends an attempt. */
export interface AttemptOutcome {
  state: 'approved' | 'denied' | 'mismatched'
  endedAt: number
  personId: string | null
  accessToken: string | null
  expiresAt: number
}

/** A recent attempt, newest first. */
export type RecentAttempt = Pick<AttemptRow, 'state' | 'openedAt' | 'endedAt'>

type AttemptTimes = Pick<AttemptRow, 'createdAt' | 'expiresAt'>

export function createAttemptStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const byId = and(eq(attempts.tenantId, $('tenantId')), eq(attempts.id, $('id')))
  const isOpened = sql`${attempts.state} = 'opened'`

  const insert = compile(
    client,
    orm
      .insert(attempts)
      .values({
        ...rowOf(
          attempts,
          'openerId',
          'personId',
          'accessToken',
          'openedAt',
          'endedAt',
          'state',
          'prompts',
        ),
        state: 'pending',
        prompts: 0,
      }),
  )
  const asked = compile<AskedAttempt>(
    client,
    orm
      .select({
        id: attempts.id,
        state: attempts.state,
        expiresAt: attempts.expiresAt,
        accessToken: attempts.accessToken,
        personId: attempts.personId,
      })
      .from(attempts)
      .where(
        and(
          eq(attempts.tenantId, $('tenantId')),
          eq(attempts.environment, $('environment')),
          eq(attempts.nonceHash, $('nonceHash')),
        ),
      ),
  )
  const find = orm.select().from(attempts).where(byId).prepare()
  const isInState = and(
    eq(attempts.tenantId, $('tenantId')),
    eq(attempts.environment, $('environment')),
    eq(attempts.state, $('state')),
  )
  const isWithin = sql`${attempts.seq} between ${$('after')} + 1 and ${$('before')} - 1`
  const [oldestInState, newestInState] = [asc, desc].map((direction) =>
    orm
      .select()
      .from(attempts)
      .where(and(isInState, isWithin))
      .orderBy(direction(attempts.seq))
      .limit($('limit'))
      .prepare(),
  )
  const latest = orm
    .select({ createdAt: attempts.createdAt, expiresAt: attempts.expiresAt })
    .from(attempts)
    .where(isInState)
    .orderBy(desc(attempts.seq))
    .limit($('limit'))
    .prepare()
  const ofOpener = orm
    .select()
    .from(attempts)
    .where(and(eq(attempts.botId, $('botId')), eq(attempts.openerId, $('openerId'))))
    .orderBy(desc(attempts.openedAt))
    .limit($('limit'))
    .prepare()
  const findByLink = orm
    .select()
    .from(attempts)
    .where(eq(attempts.linkHash, $('linkHash')))
    .prepare()
  const open = orm
    .update(attempts)
    .set({
      state: 'opened',
      openerId: sql`${$('openerId')}`,
      language: sql`${$('language')}`,
      openedAt: sql`${$('now')}`,
    })
    .where(and(byId, sql`${attempts.state} = 'pending'`))
    .prepare()
  const countPrompt = orm
    .update(attempts)
    .set({ prompts: sql`${attempts.prompts} + 1` })
    .where(byId)
    .prepare()
  const end = orm
    .update(attempts)
    .set(changesOf('state', 'endedAt', 'personId', 'accessToken', 'expiresAt'))
    .where(and(byId, isOpened, eq(attempts.openerId, $('openerId'))))
    .returning({ id: attempts.id })
    .prepare()
  const recent = orm
    .select({ state: attempts.state, openedAt: attempts.openedAt, endedAt: attempts.endedAt })
    .from(attempts)
    .where(
      and(
        eq(attempts.botId, $('botId')),
        eq(attempts.openerId, $('openerId')),
        sql`${attempts.openedAt} > ${$('since')}`,
      ),
    )
    .orderBy(desc(attempts.openedAt))
    .limit($('limit'))
    .prepare()
  const forgetTokens = orm
    .update(attempts)
    .set({ accessToken: null })
    .where(
      sql`seq in (select seq from passepartout_attempts where access_token is not null
        and expires_at <= ${$('now')} order by expires_at limit ${$('limit')})`,
    )
    .returning({ seq: attempts.seq })
    .prepare()
  const removeExpired = orm
    .delete(attempts)
    .where(
      sql`seq in (select seq from passepartout_attempts where expires_at < ${$('before')}
        order by expires_at limit ${$('limit')})`,
    )
    .returning({ seq: attempts.seq })
    .prepare()

  return {
    insert: (row: NewAttempt) => void insert.run(row),
    asked: (owner: Owner, nonceHash: string): AskedAttempt | undefined =>
      asked.get({ ...owner, nonceHash }),
    find: (tenantId: string, id: string): AttemptRow | undefined => find.get({ tenantId, id }),
    /** Newest first unless the window is ascending. */
    inState: (owner: Owner, state: AttemptRow['state'], window: Window): AttemptRow[] => {
      const { before = END, after = 0, limit, isAscending } = window
      const statement = isAscending ? oldestInState : newestInState
      return statement?.all({ ...owner, state, before, after, limit }) ?? []
    },
    /** The number of the first attempt from a time on. */
    seqFrom: createSeqFrom(client, 'passepartout_attempts', 'created_at'),
    /** When the newest attempts in a state began, and when they expire. */
    latest: (owner: Owner, state: AttemptRow['state'], limit: number): AttemptTimes[] =>
      latest.all({ ...owner, state, limit }),
    /** Attempts of one user with one bot, newest first. */
    ofOpener: (botId: string, openerId: string, limit: number): AttemptRow[] =>
      ofOpener.all({ botId, openerId, limit }),
    /** Of any tenant: the link is the only key. */
    byLink: (linkHash: string): AttemptRow | undefined => findByLink.get({ linkHash }),
    /** Binds the attempt to the first user who opens it. */
    open: (
      { tenantId, id }: Pick<AttemptRow, 'tenantId' | 'id'>,
      by: { openerId: string; language: Language; now: number },
    ) => void open.run({ tenantId, id, ...by }),
    countPrompt: ({ tenantId, id }: Pick<AttemptRow, 'tenantId' | 'id'>) =>
      void countPrompt.run({ tenantId, id }),
    /** False if it has already ended. */
    end: (
      { tenantId, id, openerId }: Pick<AttemptRow, 'tenantId' | 'id' | 'openerId'>,
      outcome: AttemptOutcome,
    ): boolean => end.get({ tenantId, id, openerId, ...outcome }) !== undefined,
    /** Recent attempts of one user with one bot. */
    recent: (botId: string, openerId: string, since: number, limit: number): RecentAttempt[] =>
      recent.all({ botId, openerId, since, limit }),
    /** Deletes copies of tokens that can no longer be collected. */
    forgetTokens: (now: number, limit: number): number => forgetTokens.all({ now, limit }).length,
    removeExpired: (before: number, limit: number): number =>
      removeExpired.all({ before, limit }).length,
  }
}
