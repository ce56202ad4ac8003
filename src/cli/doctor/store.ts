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
  /** When the first lease runs out; null for bots, whose leases have no end. */
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

/** Literals instead of parameters, so that SQLite uses the partial indexes. */
const LEASED = sql`'leased'`
const OPEN = [sql`'waiting'`, sql`'ready'`]

export type Store = ReturnType<typeof createStore>

/** The reads of `doctor`, all by index or from small tables. Needs the current schema. */
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
  const lastIssue = orm
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

  /** Leases of bots, which have no state column. */
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
    /** When a process last wrote, as far as known. */
    lastWriteAt: (): number =>
      Math.max(lastAudit.get()?.at ?? 0, lastBeat.get()?.at ?? 0, made.get()?.at ?? 0),
    madeAt: (): number | null => made.get()?.at ?? null,
    keptMails: (now: number): number => kept.get({ now })?.count ?? 0,
    /** The last error of the mail whose next retry is furthest away; null if none waits. */
    mailIssue: (): string | null => lastIssue.get()?.error ?? null,
    leases: (): Leases[] =>
      leased.flatMap(({ of, query }) => query.all().map((row) => ({ of, ...row }))),
    overdue: (since: number): Overdue[] =>
      due
        .map(({ of, query }) => ({ of, ...(query.get({ before: since }) ?? NOTHING) }))
        .filter((found) => found.count > 0),
  }
}

const NOTHING = { count: 0, since: null }
