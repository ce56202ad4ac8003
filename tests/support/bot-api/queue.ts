import type { Update } from './wire.ts'

/** An offset beyond this many ids after the next one belongs to another queue, and is ignored. */
const NEAR_FUTURE = 10

/** The updates that a bot has not confirmed. `changed` is told when there may be one to deliver. */
export function newQueue(changed: () => void) {
  let pending: Update[] = []
  /** To be delivered once more, whatever was confirmed. */
  let again: Update[] = []
  let delivered: Update[] = []
  let nextId = 500_000_001
  let isHeld = false
  let isShuffled = false

  const waiting = () => (isHeld ? [] : [...again, ...pending])
  const arranged = (updates: Update[]) => (isShuffled ? updates.toReversed() : updates)

  function recordDelivery(updates: Update[]) {
    again = again.filter((update) => !updates.includes(update))
    delivered = [...delivered.filter((update) => !updates.includes(update)), ...updates]
  }

  return {
    size: () => again.length + pending.length,

    add: (kind: string, about: unknown) => {
      pending.push({ [kind]: about, update_id: nextId++ })
      changed()
    },

    /** For polling: forgets what `offset` confirms and gives what comes after it. */
    read: (offset: number, limit: number): Update[] => {
      if (offset <= nextId + NEAR_FUTURE)
        pending = pending.filter((update) => update.update_id >= offset)
      const batch = waiting().slice(0, limit)
      recordDelivery(batch)
      return arranged(batch)
    },

    redeliver: (count: number) => {
      if (delivered.length < count) throw new Error('there is nothing to deliver again')
      again.push(...delivered.slice(-count).filter((update) => !pending.includes(update)))
      changed()
    },

    jumpTo: (id: number) => {
      nextId = id
    },

    shuffle: (isOn: boolean) => {
      isShuffled = isOn
    },

    hold: (isOn: boolean) => {
      isHeld = isOn
      if (!isOn) changed()
    },
  }
}
