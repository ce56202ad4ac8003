import { ProviderMark } from './marks.tsx'
import { type InputNode, labelOf, providerOf, textIn } from './nodes.ts'
import type { Words } from './words.ts'

type Weight = 'primary' | 'secondary' | 'quiet' | 'danger'

/** Sends its form, and itself with it. */
export const Button = (parts: {
  node: InputNode
  weight: Weight
  /** For methods that do without some field of their form. */
  skipsChecks?: boolean
  label?: string
}) => {
  const { node, weight, skipsChecks, label } = parts
  const { type, name, disabled } = node.attributes
  return (
    <button
      type={type === 'button' ? 'button' : 'submit'}
      class={weight}
      name={name}
      value={textIn(node)}
      disabled={disabled}
      formnovalidate={skipsChecks}
    >
      {label ?? labelOf(node)}
    </button>
  )
}

/** Leads to a provider. Where there are many, no more than its name is seen. */
export const ProviderButton = (parts: { node: InputNode; weight: Weight; isShort: boolean }) => {
  const { node, weight, isShort } = parts
  return (
    <button
      type="submit"
      class={`${weight} provider`}
      name={node.attributes.name}
      value={textIn(node)}
      disabled={node.attributes.disabled}
    >
      <ProviderMark provider={textIn(node)} />
      <span>{isShort ? <Shortened node={node} /> : labelOf(node)}</span>
    </button>
  )
}

/** The whole label for those who hear it, the provider's name in it for those who see it. */
const Shortened = ({ node }: { node: InputNode }) => {
  const label = labelOf(node)
  const name = providerOf(node)
  const at = label.indexOf(name)
  if (at === -1) return <>{label}</>
  return (
    <>
      <span class="unseen">{label.slice(0, at)}</span>
      {name}
      <span class="unseen">{label.slice(at + name.length)}</span>
    </>
  )
}

/** Asks before it removes something, without a script: the button is behind a fold. */
export const Removal = ({ node, words }: { node: InputNode; words: Words }) => (
  <details class="removal">
    <summary>{labelOf(node)}</summary>
    <p>{words.removals[node.attributes.name]}</p>
    <Button node={node} weight="danger" label={words.remove} />
  </details>
)
