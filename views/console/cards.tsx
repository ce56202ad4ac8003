import type { ComponentChildren } from 'preact'

/** Items as cards, where a table would have one column. */
export const Cards = <Item,>(cards: {
  label: string
  items: readonly Item[]
  children: (item: Item) => ComponentChildren
}) => (
  <ul class="cards" aria-label={cards.label}>
    {cards.items.map((item) => (
      <li class="card">{cards.children(item)}</li>
    ))}
  </ul>
)
