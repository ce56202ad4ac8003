import { and, count, desc, eq, gt, isNotNull, lt, max, min, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { deliveries } from '../../delivery/schema.ts'
import { cronJobs, runs } from '../../engines/clockwork/schema.ts'
import { passepartoutBots, passepartoutPrompts } from '../../engines/passepartout/schema.ts'
import { auditLog, installation, instances, mails } from '../../platform/schema.ts'

export type InstanceRow = typeof instances.$inferSelect

/** Leases of one process in one table. */
export interface Leases {
  of: string
  owner: string | null
  count: number
  /** When the first of them runs out; a bot's never does. */
  until: number | null
}

/** Work that was due before a time. */
export interface Overdue {
  of: string
  count: number
  since: number | null
}

type Due = typeof runs | typeof deliveries | typeof mails
type Leased = Due | typeof passepartoutPrompts

/** Literals and not parameters: by those SQLite finds the indexes that have such rows alone. */
const LEASED = sql`'leased'`
const OPEN = [sql`'waiting'`, sql`'ready'`]

export type Store = ReturnType<typeof createStore>

/** What `doctor` reads, all of it by index or from small tables. The schema has to be up to date. */
export function createStore({ orm }: Pick<Db, 'orm'>) {
  const before = sql.placeholder('before')

  const allInstances = orm.select().from(instances).prepare()
  const lastAudit = orm
    .select({ at: max(auditLog.at) })
    .from(auditLog)
    .prepare()
  const lastBeat = orm
    .select({ at: max(instances.heartbeatAt) })
    .from(instances)
    .prepare()
  const made = orm
    .select({ at: min(installation.createdAt) })
    .from(installation)
    .prepare()
  const kept = orm
    .select({ count: count() })
    .from(mails)
    .where(and(eq(mails.state, sql`'kept'`), gt(mails.expiresAt, sql.placeholder('now'))))
    .prepare()
  const lastTrouble = orm
    .select({ error: mails.lastError, tries: mails.tries })
    .from(mails)
    .where(and(eq(mails.state, sql`'waiting'`), gt(mails.tries, 0)))
    .orderBy(desc(mails.dueAt))
    .limit(1)
    .prepare()

  const leasedIn = (of: string, table: Leased) => ({
    of,
    query: orm
      .select({ owner: table.leaseOwner, count: count(), until: min(table.leaseUntil) })
      .from(table)
      .where(eq(table.state, LEASED))
      .groupBy(table.leaseOwner)
      .prepare(),
  })
  const dueIn = (of: string, table: Due) =>
    OPEN.map((isOpen) => ({
      of,
      query: orm
        .select({ count: count(), since: min(table.dueAt) })
        .from(table)
        .where(and(eq(table.state, isOpen), lt(table.dueAt, before)))
        .prepare(),
    }))

  /** They have no state, and are kept for as long as somebody runs them. */
  const leasedBots = {
    of: 'bot',
    query: orm
      .select({
        owner: passepartoutBots.leaseOwner,
        count: count(),
        until: sql<number | null>`null`,
      })
      .from(passepartoutBots)
      .where(
        and(
          isNotNull(passepartoutBots.leaseOwner),
          isNotNull(passepartoutBots.token),
          eq(passepartoutBots.isEnabled, true),
        ),
      )
      .groupBy(passepartoutBots.leaseOwner)
      .prepare(),
  }
  const dueCronJobs = {
    of: 'cron job',
    query: orm
      .select({ count: count(), since: min(cronJobs.nextRunAt) })
      .from(cronJobs)
      .where(and(eq(cronJobs.isActive, sql`1`), lt(cronJobs.nextRunAt, before)))
      .prepare(),
  }

  const leased = [
    leasedIn('run', runs),
    leasedIn('delivery', deliveries),
    leasedIn('mail', mails),
    leasedIn('prompt', passepartoutPrompts),
    leasedBots,
  ]
  const due = [
    ...dueIn('run', runs),
    dueCronJobs,
    ...dueIn('delivery', deliveries),
    ...dueIn('mail', mails),
  ]

  return {
    instances: (): InstanceRow[] => allInstances.all(),
    /** The last time that a process is known to have written. */
    lastWriteAt: (): number =>
      Math.max(lastAudit.get()?.at ?? 0, lastBeat.get()?.at ?? 0, made.get()?.at ?? 0),
    madeAt: (): number | null => made.get()?.at ?? null,
    keptMails: (now: number): number => kept.get({ now })?.count ?? 0,
    /** Why one that has to be tried again was not taken: the one whose next try is furthest away. */
    mailTrouble: (): string | null => lastTrouble.get()?.error ?? null,
    leases: (): Leases[] =>
      leased.flatMap(({ of, query }) => query.all().map((row) => ({ of, ...row }))),
    overdue: (since: number): Overdue[] =>
      due
        .map(({ of, query }) => ({ of, ...(query.get({ before: since }) ?? NOTHING) }))
        .filter((found) => found.count > 0),
  }
}

const NOTHING = { count: 0, since: null }
