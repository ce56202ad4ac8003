import type { VNode } from 'preact'
import { fragmentText } from '../../../views/html.ts'

/** A part of a page that changes while somebody looks at it. */
export interface Part {
  /** Id of the element whose content it is. */
  target: string
  /** All that its drawing goes by but the time: while it stays the same, so does the part. */
  facts: unknown
  draw: () => VNode
}

/** Reads the parts of a page anew, from the database: what another process did is in it. */
export type Look = () => readonly Part[]

/** A part as it was drawn when its facts were last others. */
interface Drawn {
  facts: string
  html: string
}

/** What a page showed at some moment. */
export interface State {
  /** The same for the same facts, whichever process has read them. */
  id: string
  parts: ReadonlyMap<string, Drawn>
}

/** What names a state: both the page that shows it and the stream that goes on from it know it. */
export const stateIdOf = (parts: readonly Part[]): string =>
  idOf(parts.map(({ target, facts }) => [target, JSON.stringify(facts)]))

const idOf = (named: readonly (readonly string[])[]): string =>
  Bun.hash(JSON.stringify(named)).toString(36)

/** The present state. Only what is no longer as it was `before` is drawn. */
export function stateOf(parts: readonly Part[], before: State | undefined): State {
  const drawn = new Map<string, Drawn>()
  for (const { target, facts, draw } of parts) {
    const text = JSON.stringify(facts)
    const known = before?.parts.get(target)
    const html = known?.facts === text ? known.html : fragmentText(draw())
    drawn.set(target, { facts: text, html })
  }
  return { id: idOf([...drawn].map(([target, { facts }]) => [target, facts])), parts: drawn }
}
