/** What it is about stands under the name of its kind. */
export type Update = Record<string, unknown> & { update_id: number }

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

  return {
    size: () => again.length + pending.length,

    add: (kind: string, about: unknown) => {
      pending.push({ [kind]: about, update_id: nextId++ })
      changed()
    },

    /** Forgets what `offset` confirms and gives what comes after it. */
    read: (offset: number, limit: number): Update[] => {
      if (offset <= nextId + NEAR_FUTURE)
        pending = pending.filter((update) => update.update_id >= offset)
      const batch = isHeld ? [] : [...again, ...pending].slice(0, limit)
      again = again.filter((update) => !batch.includes(update))
      delivered = [...delivered.filter((update) => !batch.includes(update)), ...batch]
      return isShuffled ? batch.toReversed() : batch
    },

    redeliver: (count: number) => {
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
