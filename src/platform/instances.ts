import { eq, sql } from 'drizzle-orm'
import type { Db } from '../db/open.ts'
import { rowOf } from '../db/placeholders.ts'
import type { Clock } from './clock.ts'
import { MINUTE_MS } from './durations.ts'
import { newId } from './ids.ts'
import type { Process } from './process.ts'
import { instances } from './schema.ts'
import { ALONE, type Siblings } from './siblings.ts'

export type InstanceRow = typeof instances.$inferSelect

/** The interval of heartbeats, and of checks for those of other processes. */
export const BEAT_MS = 2000
/** A process whose heartbeat hasn't changed for this long is dead. */
export const SILENCE_MS = 5000
/** The interval of heartbeats without other processes, which spares the disk. */
export const LONELY_BEAT_MS = MINUTE_MS
/** The maximum age of a heartbeat for callers that check only once; allows for a late one. */
export const MAX_SILENCE_MS = 2 * LONELY_BEAT_MS

export type Instances = ReturnType<typeof createInstances>

/**
 * Times the heartbeats of others monotonically, so that setting the clock makes none look dead. They
 * wait for no replica: they are for processes on this directory.
 */
export function createInstances(parts: {
  db: Db
  clock: Clock
  process: Process
  siblings?: Siblings
}) {
  const { db, clock, siblings = ALONE } = parts
  const { version, host, pid, isRunning } = parts.process
  const store = createStore(db)
  const seen = new Map<string, { beat: number; since: number }>()
  const deathListeners: (() => void)[] = []
  const self = newId()
  let startedAt = 0
  let beats = 0
  let beatAt = 0
  let cancelBeat = () => {}

  async function start() {
    startedAt = clock.now()
    await db.commit(() => {
      for (const other of store.all()) if (isGone(other)) store.remove(other.id)
      writeBeat()
    }, 'disk')
    beatLater()
  }

  function writeBeat() {
    beatAt = clock.now()
    store.beat({ id: self, host, pid, version, startedAt, heartbeatAt: beatAt, beat: beats++ })
  }

  /** On the same host, a process is gone if it no longer exists or this one now has its id. */
  const isGone = (other: InstanceRow) =>
    other.host === host && (other.pid === pid || !isRunning(other.pid))

  function beatLater() {
    cancelBeat = clock.after(BEAT_MS, beat)
  }

  /**
   * Writes a heartbeat and removes dead processes. Also registers this process again if others
   * removed it while it was suspended. Errors, such as a full disk, don't end the heartbeats,
   * because the next one may succeed.
   */
  async function beat() {
    try {
      await beatOnce()
    } catch {
      // Not logged, because anything that needs to store data will report the error.
    }
    beatLater()
  }

  async function beatOnce() {
    const others = store.all().filter(({ id }) => id !== self)
    const dead = others.filter(isSilent)
    if (others.length === 0 && clock.now() - beatAt < LONELY_BEAT_MS) return
    await db.commit(() => {
      for (const { id } of dead) store.remove(id)
      writeBeat()
    }, 'disk')
    if (dead.length > 0) for (const listener of deathListeners) listener()
  }

  /** Calls `listener` whenever a process was found dead, so that its leases are free. */
  const onDeath = (listener: () => void) => void deathListeners.push(listener)

  function isSilent({ id, beat }: InstanceRow): boolean {
    const last = seen.get(id)
    const now = clock.monotonic()
    if (last?.beat === beat) return now - last.since >= SILENCE_MS
    seen.set(id, { beat, since: now })
    return false
  }

  /** The ids of all processes not known to be dead, including this one. */
  const alive = (): string[] => [...new Set([self, ...store.all().map(({ id }) => id)])]

  /** All processes not known to be dead, oldest first. */
  const list = (): InstanceRow[] => store.all().toSorted((a, b) => a.startedAt - b.startedAt)

  async function stop() {
    cancelBeat()
    await db.commit(() => store.remove(self), 'disk').catch(() => {})
  }

  return { self, siblings, start, alive, list, onDeath, stop }
}

function createStore({ orm }: Db) {
  const id = eq(instances.id, sql.placeholder('id'))
  const beat = orm
    .insert(instances)
    .values(rowOf(instances))
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
