import { MAX_DEPTH, MAX_NODES } from './bounds.ts'

/** How deeply a payload is observed: less once far more nodes exist than a shape may keep. */
export interface Room {
  deepest: number
  /** Places created, by level; `total` is their sum. */
  readonly made: number[]
  total: number
}

/** Leaves room for objects that turn out to be maps, whose nodes are merged. */
const MAX_CREATED = 4 * MAX_NODES

export const newRoom = (): Room => ({ deepest: MAX_DEPTH, made: [], total: 0 })

export function countNode(room: Room, level: number) {
  room.made[level] = (room.made[level] ?? 0) + 1
  if (++room.total > MAX_CREATED) narrow(room)
}

/** Keeps only the levels above the first one with too many nodes. */
function narrow(room: Room) {
  const { made } = room
  let total = 0
  let level = 0
  while (total + (made[level] ?? 0) <= MAX_NODES) total += made[level++] ?? 0
  room.deepest = level - 1
  room.total = total
  made.length = level
}
