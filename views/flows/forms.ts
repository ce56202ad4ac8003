import type { Node, NodeGroup } from '../../src/engines/gate/sign-in/model.ts'
import { type InputNode, isButton, isField, isHidden } from './nodes.ts'

/** Nodes that are submitted together. Without buttons it is only for reading. */
export interface Form {
  group: NodeGroup
  /** Submitted without being shown. */
  hidden: InputNode[]
  /** Fields, texts, images and links, in their original order. */
  content: Node[]
  buttons: InputNode[]
  /** Whether its buttons submit no visible fields, like the resend button. */
  isSecondary: boolean
}

/** Methods from most to least used. */
const ORDER: readonly NodeGroup[] = ['profile', 'password', 'code', 'totp', 'lookup_secret', 'oidc']

/** Methods that share their first field, such as an address. */
const SHARING: readonly NodeGroup[] = ['profile', 'password', 'code']

/**
 * Splits a flow into one form per method, so that a button submits only its own fields and a
 * required field of one method does not block another. Only methods that share a field share a
 * form.
 */
export function formsOf(nodes: Node[]): Form[] {
  const within = (groups: readonly NodeGroup[]) =>
    groups.flatMap((group) => nodes.filter((node) => node.group === group))
  const common = within(['default'])
  const methods = ORDER.filter((group) => nodes.some((node) => node.group === group))
  const sharing = common.some(isField) ? sharingAmong(methods) : []
  const alone = methods.filter((group) => !sharing.includes(group))
  const shared = [...common.filter((node) => !isHidden(node)), ...within(sharing)]
  return [shared, ...alone.map((group) => within([group]))]
    .filter((parts) => parts.length > 0)
    .flatMap((parts) => split(parts, common.filter(isHidden)))
}

/** Fields without a method belong to the methods that start with one; if there are none, to all. */
function sharingAmong(methods: NodeGroup[]): NodeGroup[] {
  const sharing = methods.filter((group) => SHARING.includes(group))
  return sharing.length > 0 ? sharing : methods
}

/**
 * Moves buttons with another name than the first into a separate form: the resend button must not
 * submit a partially entered code.
 */
function split(nodes: Node[], common: InputNode[]): Form[] {
  const group = nodes.find((node) => node.group !== 'default')?.group ?? 'default'
  const hidden = [...common, ...nodes.filter(isHidden)]
  const content = nodes.filter((node) => !isHidden(node) && !isButton(node))
  const buttons = nodes.filter(isButton)
  const main = content.some(isField) ? buttons.filter(isNamedLike(buttons[0])) : buttons
  const others = buttons.filter((button) => !main.includes(button))
  const form = {
    group,
    hidden: withoutButtons(hidden, main),
    content,
    buttons: main,
    isSecondary: false,
  }
  if (others.length === 0) return [form]
  const rest = { group, hidden: withoutButtons(hidden, others), content: [], buttons: others }
  return [form, { ...rest, isSecondary: true }]
}

const isNamedLike = (first: InputNode | undefined) => (button: InputNode) =>
  button.attributes.name === first?.attributes.name

/**
 * A button submits its own name and value, so a hidden field of the same name would be a duplicate.
 */
const withoutButtons = (hidden: InputNode[], buttons: InputNode[]): InputNode[] =>
  hidden.filter((node) => !buttons.some(isNamedLike(node)))
