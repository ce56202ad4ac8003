import { MAX_DEPTH, MAX_PLACES } from './bounds.ts'

/**
 * How deeply one payload is looked at. It starts out with all levels; once far more places
 * were made than a shape may keep, the levels that will be forgotten anyway are left out.
 */
export interface Room {
  deepest: number
  /** Places made, by level and in all. */
  readonly made: number[]
  total: number
}

/** Enough for objects that turn out to be maps, whose places become few again. */
const MAX_CREATED = 4 * MAX_PLACES

export const newRoom = (): Room => ({ deepest: MAX_DEPTH, made: [], total: 0 })

export function countPlace(room: Room, level: number) {
  room.made[level] = (room.made[level] ?? 0) + 1
  if (++room.total > MAX_CREATED) narrow(room)
}

/** Keeps the levels above the first that has too many places. */
function narrow(room: Room) {
  const { made } = room
  let total = 0
  let level = 0
  while (total + (made[level] ?? 0) <= MAX_PLACES) total += made[level++] ?? 0
  room.deepest = level - 1
  room.total = total
  made.length = level
}
