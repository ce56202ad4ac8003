import { keepBounds } from './bounds.ts'
import { type Drift, driftBetween } from './drift.ts'
import { fits } from './fits.ts'
import { absorb, observe } from './observe.ts'
import { newRoom } from './room.ts'
import { blank, type Shape } from './shape.ts'

export interface Lesson {
  /** The very shape that was known, if the payload teaches nothing. */
  shape: Shape
  drift: Drift[]
}

/**
 * Takes a payload, as `JSON.parse` gives it, into what is known of its event type. The shape
 * that comes of many payloads does not depend on their order, save for the order of
 * properties and for what the bounds make it forget.
 */
export function learn(known: Shape | undefined, payload: object): Lesson {
  if (known !== undefined && fits(known, payload)) return { shape: known, drift: [] }
  const draft = blank()
  if (known !== undefined) absorb(draft, known)
  observe(draft, payload, 1, newRoom())
  keepBounds(draft)
  return { shape: draft, drift: known === undefined ? [] : driftBetween(known, draft) }
}
