import type { ComponentChildren } from 'preact'

/** A part of a page under its own heading; in a card, or lying on the page itself. */
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
