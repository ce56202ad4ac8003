import type { ComponentChildren } from 'preact'

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
