import type { ComponentChildren } from 'preact'

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
