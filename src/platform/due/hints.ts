import type { Clock } from '../clock.ts'
import type { Siblings, Topic } from '../siblings.ts'

/** Minimum interval between two hints, in milliseconds. */
const INTERVAL_MS = 20

/**
 * Tells the other processes of a server of ready items that this one has no capacity for, and wakes
 * this one with `nudge` when another tells so. A hint that leads to no claim is not passed on, or
 * processes would keep each other awake.
 */
export function createHints(parts: {
  siblings: Siblings
  clock: Clock
  topic: Topic
  nudge: () => void
  hasReady: () => boolean
}) {
  const { siblings, clock, topic, nudge, hasReady } = parts
  let wasHinted = false
  let sentAt = Number.NEGATIVE_INFINITY
  let isPutOff = false

  function listen() {
    siblings.on(topic, () => {
      wasHinted = true
      nudge()
    })
  }

  /** Call it after each turn of the loop. */
  function afterTurn(claimed: number) {
    if (siblings.count === 1) return
    const isNews = claimed > 0 || !wasHinted
    wasHinted = false
    if (isNews && hasReady()) send()
  }

  function send() {
    if (isPutOff) return
    const waitMs = sentAt + INTERVAL_MS - clock.monotonic()
    if (waitMs > 0) {
      isPutOff = true
      clock.after(waitMs, () => {
        isPutOff = false
        send()
      })
      return
    }
    sentAt = clock.monotonic()
    siblings.tell(topic)
  }

  return { listen, afterTurn }
}
