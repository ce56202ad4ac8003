import type { Node } from '../../model/flows.ts'
import { link } from './builders.ts'
import { codeEntry, resendTo } from './code-entry.ts'
import { askForEmail } from './email-nodes.ts'
import type { Say } from './messages.ts'

interface Sent {
  email: string
  /** Put in already where the link of a mail brought it; it is still the person who sends it. */
  code?: string
}

export const recoveryStart = (say: Say, { email }: { email?: string } = {}): Node[] =>
  askForEmail(say, email)

export const recoveryCodeSent = (say: Say, { email, code }: Sent): Node[] => [
  ...codeEntry(say, { label: 1070010, code, pattern: '[0-9]+', maxlength: 6 }),
  resendTo(say, email),
]

export const verificationStart = (say: Say, { email }: { email?: string } = {}): Node[] =>
  askForEmail(say, email)

export const verificationCodeSent = (say: Say, { email, code }: Sent): Node[] => [
  ...codeEntry(say, { label: 1070011, code }),
  resendTo(say, email),
]

/** A way on, for those who came from somewhere; `continueTo` has been checked to be the tenant's. */
export const verificationDone = (say: Say, { continueTo }: { continueTo?: string } = {}): Node[] =>
  continueTo === undefined ? [] : [link('code', 'continue', continueTo, say(1070009))]
