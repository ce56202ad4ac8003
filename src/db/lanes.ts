/** Milliseconds for which the work of one lane goes on before the next lane has its turn. */
const TURN_MS = 5

export type Lanes<Work> = ReturnType<typeof createLanes<Work>>

/**
 * Work that waits in lanes, one for each tenant. Lanes take turns, so that neither many nor slow
 * pieces of work of one tenant hold up another. Within a lane, the oldest work comes first.
 */
export function createLanes<Work>() {
  /** In the order of their turns. None is empty. */
  const lanes = new Map<string, Work[]>()
  let current = { lane: '', spentMs: 0 }
  let size = 0

  function add(lane: string, work: Work) {
    const waiting = lanes.get(lane)
    if (waiting) waiting.push(work)
    else lanes.set(lane, [work])
    size++
  }

  /** The oldest work of the lane whose turn it is. Undefined where none waits. */
  function take(): Work | undefined {
    for (const [lane, waiting] of lanes) {
      if (lane !== current.lane) current = { lane, spentMs: 0 }
      if (waiting.length === 1) lanes.delete(lane)
      size--
      return waiting.shift()
    }
  }

  /** What the work that was taken last has cost. A lane that has spent its turn goes to the end. */
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

  /** Takes all that wait. */
  function takeAll(): Work[] {
    const all = [...lanes.values()].flat()
    lanes.clear()
    size = 0
    return all
  }

  return {
    add,
    take,
    charge,
    takeAll,
    size: () => size,
  }
}
