import { DatabaseLostError, isStoredAnyway, StorageError } from '../../db/errors.ts'
import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import type { Instances } from '../instances.ts'
import type { Log } from '../log.ts'
import { afterOneMoreRead } from '../transport/turns.ts'
import { createCapacity, shareOf } from './capacity.ts'
import { createHints } from './hints.ts'
import type { DueQueue, Lane } from './queue.ts'

/** Maximum wait until the work of a dead process or a changed clock is noticed. */
export const MAX_SLEEP_MS = 5000
const STORAGE_RETRY_MS = 1000
const LEASE_MARGIN_MS = 30_000
/** Outcomes of a tenant that are settled at once: few enough to leave others their turn. */
const SETTLED_AT_ONCE = 32
/** Sorts after every possible tenant id or target. */
const LAST_TARGET = '\u{10FFFF}'

interface Finished<Item, Outcome> {
  item: Item
  outcome: Outcome
  /** True for the failure that is stored in place of an outcome that couldn't be settled. */
  isLastWord?: boolean
}

/**
 * Several processes can run a loop on one database; exactly one claims each item. Lanes take turns,
 * and those at their limit are skipped, so a full lane never delays others.
 */
export function createDueLoop<Item extends Lane, Outcome>(parts: {
  queue: DueQueue<Item, Outcome>
  db: Db
  clock: Clock
  log: Log
  instances: Instances
}) {
  const { queue, db, clock, log, instances } = parts
  const { siblings } = instances
  const capacity = createCapacity<Item>(shareOf(queue.limits, siblings))
  const hints = createHints({ siblings, clock, topic: `due:${queue.name}`, nudge, hasReady })
  const abort = new AbortController()
  const waitingForQuiet: (() => void)[] = []
  const unstored: Finished<Item, Outcome>[] = []
  let settling = 0
  let cursor: Lane | undefined
  let running = false
  let turning = false
  let turnAgain = false
  let gathering = false
  let findLost = false
  let storageFails = false
  let failing = false
  let wakeAt = 0
  let cancelTimer = () => {}

  function start() {
    running = true
    instances.onDeath(wakeUp)
    hints.listen()
    wakeUp()
  }

  /** Checks for due work, and for leases of processes that have died. */
  function wakeUp() {
    findLost = true
    nudge()
  }

  /** Makes the loop wake up by `at`, in milliseconds since the epoch. */
  function expect(at: number) {
    if (turning) turnAgain ||= at <= clock.now()
    else if (at < wakeAt) nudge()
  }

  /** Checks for work immediately, for example after an item became ready. */
  function nudge() {
    turnAgain = true
    if (!turning) void keepTurning()
  }

  async function keepTurning() {
    turning = true
    cancelTimer()
    while (turnAgain) await turn()
    turning = false
    sleepUntilDue()
    tellIfQuiet()
  }

  async function turn() {
    turnAgain = false
    storageFails = false
    const settled = slicesOf(unstored.splice(0)).map(settle)
    const [claimed] = await Promise.all([claimReady(), ...settled])
    for (const item of claimed) perform(item)
    if (running) hints.afterTurn(claimed.length)
  }

  /** Claims ready items. Commits only if there is something to write. */
  async function claimReady(): Promise<Item[]> {
    if (!running) return []
    const claimed: Item[] = []
    try {
      if (findLost) await reclaimLost()
      if (!hasWork()) return []
      await db.commit(() => promoteAndClaim(claimed), 'effect')
      recovered()
      return claimed
    } catch (error) {
      for (const item of claimed) capacity.leave(item)
      if (isStoredAnyway(error)) giveBack(claimed, error)
      troubled('claim', error)
      return []
    }
  }

  /** Fails items whose leases were stored in a commit that failed; their work never started. */
  function giveBack(claimed: readonly Item[], error: unknown) {
    for (const item of claimed)
      unstored.push({ item, outcome: queue.broken(item, error), isLastWord: true })
  }

  async function reclaimLost() {
    findLost = queue.hasLost(holders())
    if (!findLost) return
    await db.commit(() => queue.reclaim(holders()))
    turnAgain = true
  }

  const holders = () => ({ self: instances.self, alive: instances.alive(), now: clock.now() })

  const hasWork = () => isDue() || (capacity.room() > 0 && queue.nextLane(undefined) !== undefined)

  /** False also if that can't be read. */
  function hasReady(): boolean {
    try {
      return queue.nextLane(undefined) !== undefined
    } catch {
      return false
    }
  }

  const isDue = () => msUntilDue() <= 0

  const msUntilDue = () => (queue.nextDueAt() ?? Number.POSITIVE_INFINITY) - clock.now()

  function promoteAndClaim(claimed: Item[]) {
    if (queue.promote(clock.now())) turnAgain = true
    claimInTurns(claimed)
  }

  /** Starts after the last lane served; skips all lanes of a tenant at its limit. */
  function claimInTurns(claimed: Item[]) {
    const start = cursor
    let wrapped = start === undefined
    let lane = queue.nextLane(start)
    while (capacity.room() > 0) {
      if (lane && !(wrapped && start && isBehind(lane, start))) {
        const taken = claimLane(lane)
        claimed.push(...taken)
        if (taken.length > 0) cursor = lane
        lane = queue.nextLane(
          capacity.tenantRoom(lane) > 0 ? lane : { ...lane, target: LAST_TARGET },
        )
      } else if (wrapped) {
        return
      } else {
        wrapped = true
        lane = queue.nextLane(undefined)
      }
    }
  }

  function claimLane(lane: Lane): Item[] {
    const limit = capacity.roomFor(lane)
    if (limit <= 0) return []
    const until = clock.now() + queue.longestMs + LEASE_MARGIN_MS
    const items = queue.claim(lane, limit, { owner: instances.self, until })
    for (const item of items) capacity.enter(item)
    return items
  }

  function perform(item: Item) {
    Promise.resolve()
      .then(() => queue.perform(item, abort.signal))
      .catch((error) => {
        log.error('due work failed', { queue: queue.name, error: String(error) })
        return queue.broken(item, error)
      })
      .then((outcome) => {
        capacity.leave(item)
        unstored.push({ item, outcome })
        if (!gathering) gather(0)
      })
  }

  /** Waits as long as more outcomes arrive, because those of a burst share a commit. */
  function gather(known: number) {
    gathering = unstored.length > known && capacity.used() > 0
    if (gathering) afterOneMoreRead(() => gather(unstored.length))
    else if (unstored.length > 0) nudge()
  }

  /** Outcomes and claims of one turn share a commit. If storage fails, they are stored later. */
  async function settle(slice: Finished<Item, Outcome>[]) {
    settling++
    try {
      const tenant = slice[0]?.item.tenant ?? ''
      const dueAgain = await db.commitFor(tenant, () =>
        slice.map(({ item, outcome }) => queue.settle(item, outcome)),
      )
      for (const at of dueAgain) if (at !== undefined) expect(at)
      recovered()
    } catch (error) {
      if (error instanceof StorageError) unstored.push(...slice)
      else settleApart(slice, error)
      troubled('settle', error)
      if (!turning) sleepUntilDue()
    }
    settling--
    tellIfQuiet()
  }

  /** One outcome that can't be settled keeps no other from being stored. */
  function settleApart(slice: Finished<Item, Outcome>[], error: unknown) {
    if (slice.length === 1) for (const finished of slice) settleAsBroken(finished, error)
    else for (const finished of slice) void settle([finished])
  }

  /** Stores a failure instead, because no process takes back the lease of a living one. */
  function settleAsBroken({ item, isLastWord }: Finished<Item, Outcome>, error: unknown) {
    if (isLastWord) return
    void settle([{ item, outcome: queue.broken(item, error), isLastWord: true }])
  }

  /** Delays the next try and logs the error once, because the log may be on the same disk. */
  function troubled(what: string, error: unknown) {
    storageFails = true
    if (failing || error instanceof DatabaseLostError) return
    failing = true
    log.error(`due loop could not ${what}`, { queue: queue.name, error: String(error) })
  }

  function recovered() {
    if (!failing) return
    failing = false
    log.info('due loop works again', { queue: queue.name })
  }

  function sleepUntilDue() {
    if (!running && unstored.length === 0) return
    const ms = storageFails ? STORAGE_RETRY_MS : Math.min(msUntilDueOrRetry(), MAX_SLEEP_MS)
    wakeAt = clock.now() + ms
    cancelTimer()
    cancelTimer = clock.after(Math.max(ms, 0), wakeUp)
  }

  /** Never throws, so that a database that can't be read doesn't end the loop. */
  function msUntilDueOrRetry(): number {
    try {
      return msUntilDue()
    } catch (error) {
      troubled('look for due work', error)
      return STORAGE_RETRY_MS
    }
  }

  /** Work in progress is aborted after `graceMs`. Resolves when every outcome is stored. */
  async function stop(graceMs: number) {
    running = false
    const cancelAbort = clock.after(graceMs, () => abort.abort())
    await idle()
    cancelAbort()
    cancelTimer()
  }

  const isQuiet = () => !turning && settling === 0 && capacity.used() === 0 && unstored.length === 0

  function tellIfQuiet() {
    if (isQuiet()) for (const resolve of waitingForQuiet.splice(0)) resolve()
  }

  /** Resolves when nothing is in progress and all outcomes are stored. */
  const idle = (): Promise<void> =>
    isQuiet() ? Promise.resolve() : new Promise((resolve) => waitingForQuiet.push(resolve))

  return { start, stop, nudge, expect, idle, inFlight: capacity.used }
}

/** Lanes are ASCII text, which JavaScript and SQLite sort alike. */
const isBehind = (lane: Lane, other: Lane): boolean =>
  lane.tenant > other.tenant || (lane.tenant === other.tenant && lane.target > other.target)

/** Groups outcomes by tenant. */
const slicesOf = <One extends { item: Lane }>(finished: One[]): One[][] =>
  [...Map.groupBy(finished, ({ item }) => item.tenant).values()].flatMap((ofTenant) =>
    Array.from({ length: Math.ceil(ofTenant.length / SETTLED_AT_ONCE) }, (_, n) =>
      ofTenant.slice(n * SETTLED_AT_ONCE, (n + 1) * SETTLED_AT_ONCE),
    ),
  )
