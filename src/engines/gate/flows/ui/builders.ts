import type { Message, Node, NodeGroup } from '../../model/flows.ts'

type Attributes<Kind> = Extract<Node['attributes'], { node_type: Kind }>
type Input = Omit<Attributes<'input'>, 'node_type' | 'disabled'>

export function input(group: NodeGroup, attributes: Input, label?: Message): Node {
  return node('input', group, { ...attributes, disabled: false, node_type: 'input' }, label)
}

/** Something to type in, without which the form is not sent. */
export const field = (group: NodeGroup, attributes: Input, label: Message): Node =>
  input(group, { ...attributes, required: true }, label)

export const submit = (group: NodeGroup, name: string, value: string, label: Message): Node =>
  input(group, { name, type: 'submit', value }, label)

export const hidden = (group: NodeGroup, name: string, value: string): Node =>
  input(group, { name, type: 'hidden', value })

/** The token of the flow, without which nothing that is sent to it counts. */
export const csrfNode = (token: string): Node =>
  input('default', { name: 'csrf_token', type: 'hidden', value: token, required: true })

/** Something to read. */
export const text = (group: NodeGroup, id: string, words: Message, label: Message): Node =>
  node('text', group, { id, text: words, node_type: 'text' }, label)

/** A square picture; `src` is a data URL, `size` in pixels. */
export const picture = (
  group: NodeGroup,
  id: string,
  { src, size }: { src: string; size: number },
  label: Message,
): Node => node('img', group, { id, src, width: size, height: size, node_type: 'img' }, label)

export const link = (group: NodeGroup, id: string, href: string, title: Message): Node =>
  node('a', group, { id, href, title, node_type: 'a' }, title)

/** A value where there is one, and not even the attribute where there is none. */
export const prefilled = (value: string | undefined) => (value === undefined ? {} : { value })

const node = (
  type: Node['type'],
  group: NodeGroup,
  attributes: Node['attributes'],
  label?: Message,
): Node => ({ type, group, attributes, messages: [], meta: label ? { label } : {} })
