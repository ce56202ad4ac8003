import type { Node, NodeGroup } from '../../src/engines/gate/model/flows.ts'
import { type InputNode, isButton, isField, isHidden } from './nodes.ts'

/** What is sent together. Without buttons it is something to read. */
export interface Form {
  group: NodeGroup
  /** Sent along unseen. */
  hidden: InputNode[]
  /** Fields, words, pictures and links, as they came. */
  content: Node[]
  buttons: InputNode[]
  /** Buttons that send nothing that was filled in, such as one for another code. */
  isAside: boolean
}

/** Methods, from what people use most to what they use least. */
const ORDER: readonly NodeGroup[] = ['profile', 'password', 'code', 'totp', 'lookup_secret', 'oidc']

/** Methods that begin with the same field, such as an address. */
const SHARING: readonly NodeGroup[] = ['profile', 'password', 'code']

/**
 * A flow as forms, one a method, so that a button sends the fields of its method and a field that
 * one method requires does not hold up another. Only methods that share a field share a form.
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

/** Fields that belong to no method are for all there are, if not for those that begin with one. */
function sharingAmong(methods: NodeGroup[]): NodeGroup[] {
  const sharing = methods.filter((group) => SHARING.includes(group))
  return sharing.length > 0 ? sharing : methods
}

/**
 * Buttons that are called otherwise than the first go apart: one that sends another code must
 * not send a half-typed one along.
 */
function split(nodes: Node[], common: InputNode[]): Form[] {
  const group = nodes.find((node) => node.group !== 'default')?.group ?? 'default'
  const hidden = [...common, ...nodes.filter(isHidden)]
  const content = nodes.filter((node) => !isHidden(node) && !isButton(node))
  const buttons = nodes.filter(isButton)
  const main = content.some(isField) ? buttons.filter(isNamedLike(buttons[0])) : buttons
  const apart = buttons.filter((button) => !main.includes(button))
  const form = { group, hidden: lessButtons(hidden, main), content, buttons: main, isAside: false }
  if (apart.length === 0) return [form]
  const rest = { group, hidden: lessButtons(hidden, apart), content: [], buttons: apart }
  return [form, { ...rest, isAside: true }]
}

const isNamedLike = (first: InputNode | undefined) => (button: InputNode) =>
  button.attributes.name === first?.attributes.name

/** A button sends its own value under its name; a hidden one beside it would be a second. */
const lessButtons = (hidden: InputNode[], buttons: InputNode[]): InputNode[] =>
  hidden.filter((node) => !buttons.some(isNamedLike(node)))
