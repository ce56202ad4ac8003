import type { Node } from '../../model.ts'
import { field, hidden, submit } from './builders.ts'
import type { MessageId, Say } from './messages.ts'

/** The resend button must come later, because the enter key presses the first button. */
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
    { name: 'code', type: 'text', autocomplete: 'one-time-code', value: code, ...checks },
    say(label),
  ),
  hidden('code', 'method', 'code'),
  submit('code', 'method', 'code', say(1070009)),
]

/** The hidden secret of a mail's link, and one button to submit it. */
export const linkEntry = (say: Say, secret: string): Node[] => [
  hidden('code', 'code', secret),
  hidden('code', 'method', 'code'),
  submit('code', 'method', 'code', say(1070009)),
]

/** The resend button, if the address is in another field. */
export const resendCode = (say: Say): Node => submit('code', 'resend', 'code', say(1070008))

/** The resend button that carries the address, if no other field does. */
export const resendTo = (say: Say, email: string): Node =>
  submit('code', 'email', email, say(1070008))
