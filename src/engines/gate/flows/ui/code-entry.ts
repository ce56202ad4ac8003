import type { Node } from '../../model/flows.ts'
import { field, hidden, submit } from './builders.ts'
import type { MessageId, Say } from './messages.ts'

/**
 * The code that a mail brought, and the button for it. What sends another mail comes after it in
 * all forms: the first button is the one that the enter key presses.
 */
export const codeEntry = (
  say: Say,
  {
    label,
    code,
    ...checks
  }: { label: MessageId; code?: string; pattern?: string; maxlength?: number },
): Node[] => [
  field(
    'code',
    {
      name: 'code',
      type: 'text',
      autocomplete: 'one-time-code',
      value: code,
      ...checks,
    },
    say(label),
  ),
  hidden('code', 'method', 'code'),
  submit('code', 'method', 'code', say(1070009)),
]

/** What the link of a mail brought, which nobody types: one button sends it. */
export const linkEntry = (say: Say, secret: string): Node[] => [
  hidden('code', 'code', secret),
  hidden('code', 'method', 'code'),
  submit('code', 'method', 'code', say(1070009)),
]

/** Where the address travels along in a field of its own. */
export const resendCode = (say: Say): Node => submit('code', 'resend', 'code', say(1070008))

/** Where the address has no other field: the button carries it. */
export const resendTo = (say: Say, email: string): Node =>
  submit('code', 'email', email, say(1070008))
