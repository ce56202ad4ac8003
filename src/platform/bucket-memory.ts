/** The number of slots by which buckets are sorted, per window. */
const SLOTS = 60

/**
 * Where buckets are kept: for each name, when its bucket will be full, in ticks. Between `open` and
 * `close` no other process and no other bucket is served, so nothing is awaited there.
 */
export interface BucketMemory {
  /** When the bucket is full; 0 for an unknown name. */
  open(name: string): number
  /** Stores a new time, unless it is undefined; one that is not after `now` belongs to a full bucket. */
  close(full: number | undefined, now: number): void
  /** The number of remembered buckets. */
  size(): number
}

/**
 * The memory of this process alone. A full bucket is forgotten within a sixtieth of the window. If
 * `most` buckets are not full, the fullest are forgotten for a new key.
 */
export function createBucketMemory({
  most,
  windowTicks,
}: {
  most: number
  windowTicks: number
}): BucketMemory {
  const slotTicks = windowTicks / SLOTS
  /** When each bucket will be full. Full ones are left out. */
  const fullAt = new Map<string, number>()
  /** The names by the slot in which they will be full; at most 62 slots. */
  const bySlot = new Map<number, Set<string>>()
  let swept = 0
  let current = ''

  function open(name: string): number {
    current = name
    return fullAt.get(name) ?? 0
  }

  function close(full: number | undefined, now: number) {
    if (full !== undefined) put(current, full, now)
    forgetFull(Math.floor(now / slotTicks))
  }

  function put(name: string, full: number, now: number) {
    const before = fullAt.get(name)
    // A busy key takes many tokens within one slot and stays in its place.
    if (before !== undefined && full > now && slotOf(before) === slotOf(full))
      return void fullAt.set(name, full)
    if (before !== undefined) forget(name, before)
    else if (fullAt.size >= most) forgetFullest()
    if (full > now) remember(name, full)
  }

  const slotOf = (full: number): number => Math.ceil(full / slotTicks)

  function remember(name: string, full: number) {
    const slot = slotOf(full)
    const names = bySlot.get(slot)
    if (names) names.add(name)
    else bySlot.set(slot, new Set([name]))
    fullAt.set(name, full)
  }

  function forget(name: string, full: number) {
    fullAt.delete(name)
    const slot = slotOf(full)
    const names = bySlot.get(slot)
    names?.delete(name)
    if (names?.size === 0) bySlot.delete(slot)
  }

  function forgetFull(slot: number) {
    if (slot === swept) return
    swept = slot
    for (const [each, names] of bySlot) {
      if (each > slot) continue
      for (const name of names) fullAt.delete(name)
      bySlot.delete(each)
    }
  }

  /** Forgets a hundredth at a time, because a set's first entry is slow to find after deletions. */
  function forgetFullest() {
    const names = bySlot.get(Math.min(...bySlot.keys())) ?? []
    let left = Math.ceil(most / 100)
    for (const name of names) {
      if (left-- === 0) break
      forget(name, fullAt.get(name) ?? 0)
    }
  }

  return { open, close, size: () => fullAt.size }
}
