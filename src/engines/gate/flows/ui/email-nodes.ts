import type { Message, Node, NodeGroup } from '../../model/flows.ts'
import { field, submit } from './builders.ts'
import type { Say } from './messages.ts'

export interface Prefilled {
  value?: string
  /** Where it travels along, and is not asked for. */
  isHidden?: boolean
}

/** The address of an account, as a trait of it. */
export const emailTrait = (
  say: Say,
  { value, isHidden = false }: Prefilled = {},
  group: NodeGroup = 'default',
): Node =>
  field(
    group,
    {
      name: 'traits.email',
      ...(isHidden ? { type: 'hidden' } : { type: 'email', autocomplete: 'email' }),
      value,
    },
    emailTitle(say),
  )

/** The label of whatever holds the trait: titled as the trait is. */
export const emailTitle = (say: Say): Message =>
  say(1070002, { title: say(1070007).text, name: 'traits.email' })

/** An address to send a code to. */
export const emailNode = (say: Say, { value }: { value?: string } = {}): Node =>
  field('code', { name: 'email', type: 'email', autocomplete: 'email', value }, say(1070007))

/** Such an address, and the button for it. */
export const askForEmail = (say: Say, email?: string): Node[] => [
  emailNode(say, { value: email }),
  submit('code', 'method', 'code', say(1070009)),
]
