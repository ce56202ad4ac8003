import type { Message, Node } from '../../src/engines/gate/sign-in/model.ts'

type NodeOf<Type> = Node & { attributes: Extract<Node['attributes'], { node_type: Type }> }

export type InputNode = NodeOf<'input'>
export type TextNode = NodeOf<'text'>
export type ImageNode = NodeOf<'img'>
export type LinkNode = NodeOf<'a'>

const isInput = (node: Node): node is InputNode => node.attributes.node_type === 'input'
export const isText = (node: Node): node is TextNode => node.attributes.node_type === 'text'
export const isImage = (node: Node): node is ImageNode => node.attributes.node_type === 'img'
export const isLink = (node: Node): node is LinkNode => node.attributes.node_type === 'a'

const BUTTONS = ['submit', 'button']

export const isHidden = (node: Node): node is InputNode =>
  isInput(node) && node.attributes.type === 'hidden'

export const isButton = (node: Node): node is InputNode =>
  isInput(node) && BUTTONS.includes(node.attributes.type)

/** An input for text, or a checkbox. */
export const isField = (node: Node): node is InputNode =>
  isInput(node) && !isHidden(node) && !isButton(node)

export const isPassword = (node: Node): node is InputNode =>
  isInput(node) && node.attributes.type === 'password'

/** The value to show in a field. Passwords are never shown. */
export function textIn({ attributes: { type, value } }: InputNode): string {
  return type === 'password' ? '' : value
}

export const hasError = (node: Node): boolean => node.messages.some(({ type }) => type === 'error')

/** The visible label. */
export const labelOf = (node: InputNode): string => node.meta.label.text || node.attributes.name

/** The display name of a button's provider. */
export function providerOf(node: InputNode): string {
  const provider = node.meta.label.context?.provider
  return typeof provider === 'string' ? provider : textIn(node)
}

/** The code or key in a message's context; `undefined` if there is none. */
export function secretIn({ context }: Message): string | undefined {
  return typeof context?.secret === 'string' ? context.secret : undefined
}

/** An element id. Names may contain characters with a meaning in lists of ids. */
export const idOf = (node: InputNode): string =>
  `${node.group}-${node.attributes.name}`.replaceAll(/[^\w-]/g, '-')
