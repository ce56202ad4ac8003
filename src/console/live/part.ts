import type { VNode } from 'preact'
import { fragmentText } from '../../../views/html.ts'

/** A live part of a page. */
export interface Part {
  /** ID of its element. */
  target: string
  /** All data that it depends on except the time: it is rendered again when this changes. */
  facts: unknown
  draw: () => VNode
}

/** Reads the parts of a page from the database, including changes of other processes. */
export type Render = () => readonly Part[]

/** A rendered part and the data that it was rendered from. */
interface RenderedPart {
  facts: string
  html: string
}

/** Content of a page at some moment. */
export interface State {
  /** Depends on the facts only, not on the process. */
  id: string
  parts: ReadonlyMap<string, RenderedPart>
}

/** ID of a state, shared by the page that shows it and the stream that continues from it. */
export const stateIdOf = (parts: readonly Part[]): string =>
  idOf(parts.map(({ target, facts }) => [target, JSON.stringify(facts)]))

const idOf = (named: readonly (readonly string[])[]): string =>
  Bun.hash(JSON.stringify(named)).toString(36)

/** Current state. Only parts that differ from `before` are rendered. */
export function stateOf(parts: readonly Part[], before: State | undefined): State {
  const rendered = new Map<string, RenderedPart>()
  for (const { target, facts, draw } of parts) {
    const text = JSON.stringify(facts)
    const known = before?.parts.get(target)
    const html = known?.facts === text ? known.html : fragmentText(draw())
    rendered.set(target, { facts: text, html })
  }
  return { id: idOf([...rendered].map(([target, { facts }]) => [target, facts])), parts: rendered }
}
