import type { Message, Node, NodeGroup } from '../../model.ts'

type Attributes<Kind> = Extract<Node['attributes'], { node_type: Kind }>
type Input = Omit<Attributes<'input'>, 'node_type' | 'disabled' | 'value'> & {
  value?: string | undefined
}

/** The label of an invisible node, because clients read `meta.label.text` of every node. */
const NO_LABEL: Message = { id: 0, text: '', type: 'info' }

export function input(
  group: NodeGroup,
  { value = '', ...attributes }: Input,
  label: Message = NO_LABEL,
): Node {
  return node('input', group, { ...attributes, value, disabled: false, node_type: 'input' }, label)
}

/** A required input. */
export const field = (group: NodeGroup, attributes: Input, label: Message): Node =>
  input(group, { ...attributes, required: true }, label)

export const submit = (group: NodeGroup, name: string, value: string, label: Message): Node =>
  input(group, { name, type: 'submit', value }, label)

export const hidden = (group: NodeGroup, name: string, value: string): Node =>
  input(group, { name, type: 'hidden', value })

/** The CSRF token of the flow, which every form has to send. */
export const csrfNode = (token: string): Node =>
  input('default', { name: 'csrf_token', type: 'hidden', value: token, required: true })

/** Like all nodes, it has the name, type and value of an input, because clients read them. */
export const text = (group: NodeGroup, id: string, words: Message, label: Message): Node =>
  node(
    'text',
    group,
    { id, name: id, type: 'text', value: words.text, text: words, node_type: 'text' },
    label,
  )

/** A square image; `src` is a data URL, `size` in pixels. */
export const picture = (
  group: NodeGroup,
  id: string,
  { src, size }: { src: string; size: number },
  label: Message,
): Node =>
  node(
    'img',
    group,
    { id, name: id, type: 'img', value: src, src, width: size, height: size, node_type: 'img' },
    label,
  )

export const link = (group: NodeGroup, id: string, href: string, title: Message): Node =>
  node('a', group, { id, name: id, type: 'a', value: href, href, title, node_type: 'a' }, title)

const node = (
  type: Node['type'],
  group: NodeGroup,
  attributes: Node['attributes'],
  label: Message,
): Node => ({ type, group, attributes, messages: [], meta: { label } })
