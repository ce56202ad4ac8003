import type { Message, Node } from '../../src/engines/gate/sign-in/model.ts'
import { Field } from './field.tsx'
import { webAddress } from './href.ts'
import { Banners } from './messages.tsx'
import {
  type ImageNode,
  isField,
  isImage,
  isLink,
  isText,
  type LinkNode,
  secretIn,
  type TextNode,
} from './nodes.ts'
import type { Words } from './words.ts'

/** Any part of a form other than a button. */
export const Content = (parts: { node: Node; words: Words; isFocused: boolean }) => {
  const { node, words, isFocused } = parts
  if (isField(node)) return <Field node={node} words={words} isFocused={isFocused} />
  return (
    <>
      {isText(node) && <Text node={node} words={words} />}
      {isImage(node) && <Picture node={node} />}
      {isLink(node) && <ContinueLink node={node} />}
      <Banners messages={node.messages} />
    </>
  )
}

const Text = ({ node, words }: { node: TextNode; words: Words }) => {
  const { text } = node.attributes
  const secrets = text.context?.secrets
  const secret = secretIn(text)
  return (
    <div class="text">
      {node.meta.label.text && <p class="label">{node.meta.label.text}</p>}
      {Array.isArray(secrets) && <Codes secrets={secrets} words={words} />}
      {secret && <Key secret={secret} />}
      {!Array.isArray(secrets) && !secret && <p>{text.text}</p>}
    </div>
  )
}

/** Shown in groups of four for reading and typing; the gaps are CSS, so a copy has none. */
const Key = ({ secret }: { secret: string }) => (
  <p class="key">
    {secret.match(/.{1,4}/gsu)?.map((four) => (
      <span>{four}</span>
    ))}
  </p>
)

const Codes = ({ secrets, words }: { secrets: unknown[]; words: Words }) => (
  <>
    <p class="hint">{words.codesShown}</p>
    <ol class="codes">
      {secrets.map((secret) => (
        <li>{codeIn(secret)}</li>
      ))}
    </ol>
  </>
)

/** A code is a message that contains it, a message that it was used, or plain text. */
function codeIn(secret: unknown): string {
  if (typeof secret === 'string') return secret
  const message = secret as Message | null
  return (message && (secretIn(message) ?? message.text)) || ''
}

const Picture = ({ node: { attributes, meta } }: { node: ImageNode }) => (
  <img
    class="picture"
    src={attributes.src}
    width={attributes.width}
    height={attributes.height}
    alt={meta.label.text}
  />
)

const ContinueLink = ({ node: { attributes, meta } }: { node: LinkNode }) => (
  <a class="button primary" id={attributes.id} href={webAddress(attributes.href)}>
    {meta.label.text || attributes.title.text}
  </a>
)
