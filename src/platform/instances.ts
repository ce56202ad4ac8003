import { eq, sql } from 'drizzle-orm'
import type { Db } from '../db/open.ts'
import type { Clock } from './clock.ts'
import { newId } from './ids.ts'
import { instances } from './schema.ts'

type InstanceRow = typeof instances.$inferSelect

/** Between two heartbeats. */
export const BEAT_MS = 3000
/** A beat that has stood still this long belongs to a dead process. */
export const SILENCE_MS = 8000

export type Instances = ReturnType<typeof createInstances>

/**
 * The processes on this data directory. Each writes a heartbeat; the others judge it by
 * watching the beat on their own monotonic clock, so that setting the machine's clock
 * makes nobody look dead.
 */
export function createInstances(parts: {
  db: Db
  clock: Clock
  version: string
  host: string
  pid: number
  /** Whether a process of this host still runs. */
  isRunning: (pid: number) => boolean
}) {
  const { db, clock, version, host, pid, isRunning } = parts
  const store = createStore(db)
  const seen = new Map<string, { beat: number; since: number }>()
  const self = newId()
  let startedAt = 0
  let beats = 0
  let cancelBeat = () => {}

  async function start() {
    startedAt = clock.now()
    await db.commit(() => {
      for (const other of store.all()) if (isGone(other)) store.remove(other.id)
      writeBeat()
    })
    beatLater()
  }

  const writeBeat = () =>
    store.beat({ id: self, host, pid, version, startedAt, heartbeatAt: clock.now(), beat: beats++ })

  /** On the same host a missing process is proof; our own id under another beat is a restart. */
  const isGone = (other: InstanceRow) =>
    other.host === host && (other.pid === pid || !isRunning(other.pid))

  function beatLater() {
    cancelBeat = clock.after(BEAT_MS, beat)
  }

  /**
   * Also forgets the dead, and comes back if others have forgotten us while we were
   * suspended. A full disk must not end the beat: the next one may succeed.
   */
  async function beat() {
    const dead = store.all().filter((other) => other.id !== self && isSilent(other))
    await db
      .commit(() => {
        for (const { id } of dead) store.remove(id)
        writeBeat()
      })
      .catch(() => {})
    beatLater()
  }

  function isSilent({ id, beat }: InstanceRow): boolean {
    const last = seen.get(id)
    const now = clock.monotonic()
    if (last?.beat === beat) return now - last.since >= SILENCE_MS
    seen.set(id, { beat, since: now })
    return false
  }

  /** Ids of the processes that are not known to be dead, this one included. */
  const alive = (): string[] => [self, ...store.all().map(({ id }) => id)]

  async function stop() {
    cancelBeat()
    await db.commit(() => store.remove(self)).catch(() => {})
  }

  return { self, start, alive, stop }
}

function createStore({ orm }: Db) {
  const id = eq(instances.id, sql.placeholder('id'))
  const beat = orm
    .insert(instances)
    .values({
      id: sql.placeholder('id'),
      host: sql.placeholder('host'),
      pid: sql.placeholder('pid'),
      version: sql.placeholder('version'),
      startedAt: sql.placeholder('startedAt'),
      heartbeatAt: sql.placeholder('heartbeatAt'),
      beat: sql.placeholder('beat'),
    })
    .onConflictDoUpdate({
      target: instances.id,
      set: { heartbeatAt: sql`excluded.heartbeat_at`, beat: sql`excluded.beat` },
    })
    .prepare()
  const all = orm.select().from(instances).prepare()
  const remove = orm.delete(instances).where(id).prepare()
  return {
    beat: (row: InstanceRow) => beat.run(row),
    all: (): InstanceRow[] => all.all(),
    remove: (id: string) => remove.run({ id }),
  }
}
