import type { Message, Node } from '../../model.ts'

/**
 * Adds a message to the field of that name, such as `traits.email`. Undefined if there is no
 * visible input of that name; the message then belongs above the form.
 */
export function withMessage(
  nodes: readonly Node[],
  field: string,
  message: Message,
): Node[] | undefined {
  const index = nodes.findIndex((node) => isFilledIn(node) && node.attributes.name === field)
  const node = nodes[index]
  return node && nodes.with(index, { ...node, messages: [...node.messages, message] })
}

type InputNode = Node & { attributes: Extract<Node['attributes'], { node_type: 'input' }> }

const isFilledIn = (node: Node): node is InputNode =>
  node.attributes.node_type === 'input' && !['hidden', 'submit'].includes(node.attributes.type)
