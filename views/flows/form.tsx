import type { Node } from '../../src/engines/gate/sign-in/model.ts'
import { ProviderMark } from '../provider-marks.tsx'
import { Button, ProviderButton, Removal } from './button.tsx'
import { Content } from './content.tsx'
import type { Form } from './forms.ts'
import { CheckIcon } from './icons.tsx'
import { Banners } from './messages.tsx'
import { type InputNode, isField, providerOf, textIn } from './nodes.ts'
import type { Words } from './words.ts'

/** Above this number, provider buttons have two columns. */
const FEW_PROVIDERS = 3

interface Parts {
  form: Form
  action: string
  words: Words
  /** The account of the flow, if it is known. */
  account?: string
  focused?: Node
}

/** One form of a flow. Messages of its buttons are shown at its top. */
export const FormOf = ({ form, action, words, account, focused }: Parts) => {
  const inside = (
    <>
      <Banners messages={form.buttons.flatMap(({ messages }) => messages)} />
      {form.content.map((node) => (
        <Content node={node} words={words} isFocused={node === focused} />
      ))}
      <Buttons form={form} words={words} />
    </>
  )
  if (form.buttons.length === 0 && !form.content.some(isField)) return inside
  return (
    <form action={action} method="post" class={form.isSecondary ? 'aside' : undefined}>
      {form.hidden.map((node) => (
        <input type="hidden" name={node.attributes.name} value={textIn(node)} />
      ))}
      {account && form.content.some(isPassword) && <Account name={account} />}
      {inside}
    </form>
  )
}

const isPassword = (node: Node) => isField(node) && node.attributes.type === 'password'

/**
 * Tells password managers which account the password belongs to. Without a name it is not
 * submitted.
 */
const Account = ({ name }: { name: string }) => (
  <input type="text" autocomplete="username" value={name} readonly hidden />
)

const Buttons = ({ form, words }: { form: Form; words: Words }) => {
  if (form.group === 'oidc') return <Providers form={form} words={words} />
  return (
    <>
      {form.isSecondary && form.group === 'code' && <span>{words.noCode}</span>}
      {form.buttons.map((node, position) =>
        Object.hasOwn(words.removals, node.attributes.name) ? (
          <Removal node={node} words={words} />
        ) : (
          <Button
            node={node}
            weight={weightOf(form, position)}
            skipsChecks={position > 0 && form.content.some(isField)}
          />
        ),
      )}
    </>
  )
}

/** Confirms that the recovery codes were saved. */
const CONFIRMS = 'lookup_secret_confirm'

function weightOf({ group, content, buttons, isSecondary }: Form, position: number) {
  if (isSecondary) return 'quiet'
  // For a code from a link, the button is the only control.
  const isFirst = position === 0 && (content.some(isField) || group === 'code')
  return isFirst || buttons[position]?.attributes.name === CONFIRMS ? 'primary' : 'secondary'
}

const isCalled =
  (name: string) =>
  ({ attributes }: InputNode) =>
    attributes.name === name

const Providers = ({ form, words }: { form: Form; words: Words }) => {
  const linked = form.buttons.filter(isCalled('unlink'))
  const others = form.buttons.filter((node) => !linked.includes(node))
  const isShort = others.filter(isCalled('provider')).length > FEW_PROVIDERS
  return (
    <>
      {linked.map((node) => (
        <Linked node={node} words={words} />
      ))}
      {others.length > 0 && (
        <div class={isShort ? 'providers many' : 'providers'}>
          {others.map((node) => (
            <ProviderButton
              node={node}
              weight={weightOf(form, form.buttons.indexOf(node))}
              isShort={isShort}
            />
          ))}
        </div>
      )}
    </>
  )
}

const Linked = ({ node, words }: { node: InputNode; words: Words }) => (
  <div class="linked">
    <ProviderMark provider={textIn(node)} />
    <p>
      {providerOf(node)}
      <span class="state">
        <CheckIcon /> {words.connected}
      </span>
    </p>
    <Button node={node} weight="danger" />
  </div>
)
