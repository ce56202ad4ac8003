import type { Message } from '../../src/engines/gate/sign-in/model.ts'
import { webAddress } from './href.ts'
import { CheckIcon, InfoIcon, ProblemIcon } from './icons.tsx'

const ICONS = { error: ProblemIcon, success: CheckIcon, info: InfoIcon }

const roleOf = ({ type }: Message) => (type === 'error' ? 'alert' : 'status')

/** Whether the message has a link. */
export const hasLink = ({ context }: Message): boolean => typeof context?.url === 'string'

/** Messages about a whole page or form. `goOn` is the text of their links. */
export const Banners = ({ messages, goOn = '' }: { messages: Message[]; goOn?: string }) => (
  <>
    {messages.map((message) => {
      const Icon = ICONS[message.type]
      return (
        <div class={`banner ${message.type}`} role={roleOf(message)}>
          <Icon />
          <p>
            {message.text}
            {hasLink(message) && <a href={webAddress(`${message.context?.url}`)}>{goOn}</a>}
          </p>
        </div>
      )
    })}
  </>
)

/** Informational messages before the form. */
export const Introductions = ({ messages }: { messages: Message[] }) => (
  <>
    {messages.map((message) => (
      <p class="intro" role={roleOf(message)}>
        {message.text}
      </p>
    ))}
  </>
)

/** Messages about a field; `id` is referenced by its `aria-describedby`. */
export const FieldMessages = ({ id, messages }: { id: string; messages: Message[] }) =>
  messages.length === 0 ? null : (
    <div class="fieldmessages" id={id}>
      {messages.map((message) => {
        const Icon = ICONS[message.type]
        return (
          <p class={message.type}>
            <Icon />
            <span>{message.text}</span>
          </p>
        )
      })}
    </div>
  )
