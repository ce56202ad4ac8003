import { keepBounds } from './bounds.ts'
import { type Drift, driftBetween } from './drift.ts'
import { fits } from './fits.ts'
import { absorb, observe } from './observe.ts'
import { newRoom } from './room.ts'
import { blank, type Shape } from './shape.ts'

export interface Lesson {
  /** The same object as before if the payload teaches nothing new. */
  shape: Shape
  drift: Drift[]
}

/**
 * Adds a payload, parsed by `JSON.parse`. The order of payloads affects only the order of
 * properties and what the bounds discard.
 */
export function learn(known: Shape | undefined, payload: object): Lesson {
  if (known !== undefined && fits(known, payload)) return { shape: known, drift: [] }
  const draft = blank()
  if (known !== undefined) absorb(draft, known)
  observe(draft, payload, 1, newRoom())
  keepBounds(draft)
  return { shape: draft, drift: known === undefined ? [] : driftBetween(known, draft) }
}
