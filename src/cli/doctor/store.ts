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

  const leased = [
    {
      of: 'run',
      query: orm
        .select({ owner: runs.leaseOwner, count: count(), until: min(runs.leaseUntil) })
        .from(runs)
        .where(eq(runs.state, LEASED))
        .groupBy(runs.leaseOwner)
        .prepare(),
    },
    {
      of: 'delivery',
      query: orm
        .select({ owner: deliveries.leaseOwner, count: count(), until: min(deliveries.leaseUntil) })
        .from(deliveries)
        .where(eq(deliveries.state, LEASED))
        .groupBy(deliveries.leaseOwner)
        .prepare(),
    },
    {
      of: 'mail',
      query: orm
        .select({ owner: mails.leaseOwner, count: count(), until: min(mails.leaseUntil) })
        .from(mails)
        .where(eq(mails.state, LEASED))
        .groupBy(mails.leaseOwner)
        .prepare(),
    },
    {
      of: 'prompt',
      query: orm
        .select({
          owner: passepartoutPrompts.leaseOwner,
          count: count(),
          until: min(passepartoutPrompts.leaseUntil),
        })
        .from(passepartoutPrompts)
        .where(eq(passepartoutPrompts.state, LEASED))
        .groupBy(passepartoutPrompts.leaseOwner)
        .prepare(),
    },
    {
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
    },
  ]

  const due = [
    ...OPEN.map((isOpen) => ({
      of: 'run',
      query: orm
        .select({ count: count(), since: min(runs.dueAt) })
        .from(runs)
        .where(and(eq(runs.state, isOpen), lt(runs.dueAt, before)))
        .prepare(),
    })),
    {
      of: 'cron job',
      query: orm
        .select({ count: count(), since: min(cronJobs.nextRunAt) })
        .from(cronJobs)
        .where(and(eq(cronJobs.isActive, sql`1`), lt(cronJobs.nextRunAt, before)))
        .prepare(),
    },
    ...OPEN.map((isOpen) => ({
      of: 'delivery',
      query: orm
        .select({ count: count(), since: min(deliveries.dueAt) })
        .from(deliveries)
        .where(and(eq(deliveries.state, isOpen), lt(deliveries.dueAt, before)))
        .prepare(),
    })),
    ...OPEN.map((isOpen) => ({
      of: 'mail',
      query: orm
        .select({ count: count(), since: min(mails.dueAt) })
        .from(mails)
        .where(and(eq(mails.state, isOpen), lt(mails.dueAt, before)))
        .prepare(),
    })),
  ]

  return {
    instances: (): InstanceRow[] => allInstances.all(),
    /** The last time that a process is known to have written. */
    lastWriteAt: (): number =>
      Math.max(lastAudit.get()?.at ?? 0, lastBeat.get()?.at ?? 0, made.get()?.at ?? 0),
    madeAt: (): number | null => made.get()?.at ?? null,
    keptMails: (now: number): number => kept.get({ now })?.count ?? 0,
    /** Why the mail that is tried next but last was not taken. */
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
