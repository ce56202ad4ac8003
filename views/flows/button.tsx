import { ProviderMark } from '../provider-marks.tsx'
import { type InputNode, labelOf, providerOf, textIn } from './nodes.ts'
import type { Words } from './words.ts'

type Weight = 'primary' | 'secondary' | 'quiet' | 'danger'

/** Submits its form with its own name and value. */
export const Button = (parts: {
  node: InputNode
  weight: Weight
  /** Skips validation, for methods that do not need every field of their form. */
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

/** Leads to a provider. If there are many, only the provider's name is visible. */
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

/** The complete label for screen readers, with only the provider's name visible. */
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

/** Confirms a removal without a script: the button is inside a disclosure. */
export const Removal = ({ node, words }: { node: InputNode; words: Words }) => (
  <details class="removal">
    <summary>{labelOf(node)}</summary>
    <p>{words.removals[node.attributes.name]}</p>
    <Button node={node} weight="danger" label={words.remove} />
  </details>
)
