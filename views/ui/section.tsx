import type { ComponentChildren } from 'preact'
import { StatusShape, type Tone } from './status.tsx'

/** Title of a page, its state in one sentence, and the primary action. `aside` are secondary actions. */
export const PageHead = (head: {
  title: ComponentChildren
  state?: { tone?: Tone; sentence: ComponentChildren }
  action?: ComponentChildren
  aside?: ComponentChildren
}) => (
  <header class="pagehead">
    <div>
      <h1>{head.title}</h1>
      {head.state && (
        <p class="sentence">
          {head.state.tone && <StatusShape tone={head.state.tone} />}
          <span>{head.state.sentence}</span>
        </p>
      )}
    </div>
    {(head.action || head.aside) && (
      <div class="actions">
        {head.aside}
        {head.action}
      </div>
    )}
  </header>
)

/** A section of a page, optionally in a card. */
export const Section = (section: {
  id: string
  title: string
  note?: ComponentChildren
  aside?: ComponentChildren
  isCard?: boolean
  children: ComponentChildren
}) => (
  <section class={section.isCard ? 'section card' : 'section'} aria-labelledby={section.id}>
    <header class="sectionhead">
      <h2 id={section.id}>{section.title}</h2>
      {section.note && <p class="hint">{section.note}</p>}
      {section.aside && <div class="actions">{section.aside}</div>}
    </header>
    {section.children}
  </section>
)

/** Two sections side by side, where there is room for both. */
export const Columns = ({ children }: { children: ComponentChildren }) => (
  <div class="columns">{children}</div>
)

export type Fact = readonly [label: string, value: ComponentChildren]

/** Properties of an object as a description list. */
export const Facts = ({ facts }: { facts: readonly Fact[] }) => (
  <dl class="facts">
    {facts.map(([label, value]) => (
      <div>
        <dt>{label}</dt>
        <dd>{value ?? '–'}</dd>
      </div>
    ))}
  </dl>
)
