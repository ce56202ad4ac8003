import type { Message, Node, NodeGroup } from '../../model.ts'
import { field, input, submit } from './builders.ts'
import type { Say } from './messages.ts'

export interface Prefilled {
  value?: string
  /** Whether the value is submitted without being shown. */
  isHidden?: boolean
}

/** The email trait of an account. */
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

/** The label of the email trait. */
export const emailTitle = (say: Say): Message =>
  say(1070002, { title: say(1070007).text, name: 'traits.email' })

/** The field for an address to send a code to. */
export const emailNode = (say: Say, { value }: { value?: string } = {}): Node =>
  field('code', { name: 'email', type: 'email', autocomplete: 'email', value }, say(1070007))

/** The field for an address, and its button. */
export const askForEmail = (say: Say, email?: string): Node[] => [
  emailNode(say, { value: email }),
  submit('code', 'method', 'code', say(1070009)),
]

/** The display name of an operator. */
export const displayNameTrait = (say: Say, value?: string, group: NodeGroup = 'default'): Node => {
  const name = 'traits.display_name'
  return input(
    group,
    { name, type: 'text', autocomplete: 'name', value },
    say(1070002, { title: say(1900004).text, name }),
  )
}

/** The field for a new password; browsers offer to generate one. */
export const newPassword = (say: Say): Node =>
  field(
    'password',
    { name: 'password', type: 'password', autocomplete: 'new-password' },
    say(1070001),
  )
