import type { Message, Node } from '../../src/engines/gate/model/flows.ts'

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

/** Something to fill in or to tick. */
export const isField = (node: Node): node is InputNode =>
  isInput(node) && !isHidden(node) && !isButton(node)

/** What stands in the field. A password is never shown again, whoever sends one. */
export function textIn({ attributes: { type, value } }: InputNode): string {
  return type === 'password' ? '' : value
}

export const hasError = (node: Node): boolean => node.messages.some(({ type }) => type === 'error')

/** What a person calls it. */
export const labelOf = (node: InputNode): string => node.meta.label.text || node.attributes.name

/** The name of the provider that a button is about, as people write it. */
export function providerOf(node: InputNode): string {
  const provider = node.meta.label.context?.provider
  return typeof provider === 'string' ? provider : textIn(node)
}

/** A code or key that a message carries for programs; `undefined` if it has none. */
export function secretIn({ context }: Message): string | undefined {
  return typeof context?.secret === 'string' ? context.secret : undefined
}

/** An id for the page. Names hold characters that have a meaning in lists of ids. */
export const idOf = (node: InputNode): string =>
  `${node.group}-${node.attributes.name}`.replaceAll(/[^\w-]/g, '-')
