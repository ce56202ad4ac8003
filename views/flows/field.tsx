import { FieldMessages } from './messages.tsx'
import { hasError, type InputNode, idOf, isPassword, labelOf, textIn } from './nodes.ts'
import { Reveal } from './reveal.tsx'
import type { Words } from './words.ts'

/** Supported input types; others become text inputs. */
const TYPES = ['password', 'email', 'tel', 'number', 'url', 'date', 'datetime-local']

/** Preact declares each input type separately; the common attributes are those of a text input. */
const typeOf = ({ attributes: { type } }: InputNode) =>
  (TYPES.includes(type) ? type : 'text') as 'text'

export const Field = (parts: { node: InputNode; words: Words; isFocused: boolean }) =>
  parts.node.attributes.type === 'checkbox' ? <Tick {...parts} /> : <Line {...parts} />

const Line = ({ node, words, isFocused }: Parameters<typeof Field>[0]) => (
  <div class="field">
    <label for={idOf(node)}>
      {labelOf(node)}
      {isOptional(node) && <small> {words.optional}</small>}
    </label>
    <div class="control">
      <input
        {...common(node, isFocused)}
        {...hintsOf(node)}
        type={typeOf(node)}
        value={textIn(node)}
        pattern={node.attributes.pattern}
        maxlength={node.attributes.maxlength}
      />
      {isPassword(node) && <Reveal words={words} />}
    </div>
    <FieldMessages id={messagesIdOf(node)} messages={node.messages} />
  </div>
)

const Tick = ({ node, isFocused }: Parameters<typeof Field>[0]) => (
  <div class="field tick">
    <input
      {...common(node, isFocused)}
      type="checkbox"
      value="true"
      checked={node.attributes.value === 'true'}
    />
    <label for={idOf(node)}>{labelOf(node)}</label>
    <FieldMessages id={messagesIdOf(node)} messages={node.messages} />
  </div>
)

const common = (node: InputNode, isFocused: boolean) => ({
  id: idOf(node),
  name: node.attributes.name,
  required: node.attributes.required,
  disabled: node.attributes.disabled,
  autofocus: isFocused,
  'aria-invalid': hasError(node) ? ('true' as const) : undefined,
  'aria-describedby': node.messages.length > 0 ? messagesIdOf(node) : undefined,
})

const messagesIdOf = (node: InputNode) => `${idOf(node)}-remarks`

const isOptional = ({ attributes: { name, required } }: InputNode) =>
  !required && name.startsWith('traits.')

/** Turns off capitalization and corrections. */
const LITERAL = { autocapitalize: 'none', autocorrect: 'off', spellcheck: false } as const

/** Hints for keyboards and password managers. Those of the node take precedence. */
function hintsOf({ attributes: { name, type, autocomplete } }: InputNode) {
  if (autocomplete === 'one-time-code' || name === 'totp_code')
    return {
      ...LITERAL,
      class: 'code',
      autocomplete: 'one-time-code',
      inputmode: 'numeric',
    } as const
  if (name === 'lookup_secret')
    return { ...LITERAL, class: 'secret', autocomplete: autocomplete ?? 'off' }
  if (name === 'identifier')
    return { ...LITERAL, autocomplete: autocomplete ?? 'username', inputmode: 'email' } as const
  if (type === 'email') return { ...LITERAL, autocomplete: autocomplete ?? 'email' }
  return { autocomplete }
}
