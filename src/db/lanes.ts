/** Milliseconds that one lane may use before the next lane has its turn. */
const TURN_MS = 5

export type Lanes<Work> = ReturnType<typeof createLanes<Work>>

/** Lanes, one per tenant, take turns so that none delays another; oldest work first in each. */
export function createLanes<Work>() {
  /** In the order of their turns. No lane is empty. */
  const lanes = new Map<string, Work[]>()
  let current = { lane: '', spentMs: 0 }
  let size = 0

  function add(lane: string, work: Work) {
    const waiting = lanes.get(lane)
    if (waiting) waiting.push(work)
    else lanes.set(lane, [work])
    size++
  }

  /** Takes the oldest work of the current lane; undefined if no work is waiting. */
  function take(): Work | undefined {
    for (const [lane, waiting] of lanes) {
      if (lane !== current.lane) current = { lane, spentMs: 0 }
      if (waiting.length === 1) lanes.delete(lane)
      size--
      return waiting.shift()
    }
  }

  /** Charges the last work taken to its lane. A lane that has used up its turn goes to the end. */
  function charge(ms: number) {
    current.spentMs += ms
    if (current.spentMs < TURN_MS) return
    const { lane } = current
    const waiting = lanes.get(lane)
    current = { lane: '', spentMs: 0 }
    if (!waiting) return
    lanes.delete(lane)
    lanes.set(lane, waiting)
  }

  /** Takes all waiting work. */
  function takeAll(): Work[] {
    const all = [...lanes.values()].flat()
    lanes.clear()
    size = 0
    return all
  }

  return { add, take, charge, takeAll, size: () => size }
}
