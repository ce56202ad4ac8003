import type { Message, Node } from '../../model/flows.ts'

/**
 * The nodes with a message at the field of that name, such as `traits.email`. Undefined where no
 * such field is filled in by people: beside something hidden nobody would see it, and of several
 * buttons of one name it would be at the wrong one. It belongs above the form then.
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
