import { isMinted } from '../../../../platform/crypto.ts'
import type { Node } from '../../model/flows.ts'
import { link, submit } from './builders.ts'
import { codeEntry, linkEntry, resendTo } from './code-entry.ts'
import { askForEmail } from './email-nodes.ts'
import type { Say } from './messages.ts'

interface Sent {
  email: string
  /** Put in already where the link of a mail brought it; it is still the person who sends it. */
  code?: string
}

/** Told from the digits of a code, which people type. */
export const isLinkSecret = isMinted

export const recoveryStart = (say: Say, { email }: { email?: string } = {}): Node[] =>
  askForEmail(say, email)

export const recoveryCodeSent = (say: Say, { email, code }: Sent): Node[] =>
  code !== undefined && isLinkSecret(code)
    ? linkEntry(say, code)
    : [
        ...codeEntry(say, { label: 1070010, code, pattern: '[0-9]+', maxlength: 6 }),
        resendTo(say, email),
      ]

export const verificationStart = (say: Say, { email }: { email?: string } = {}): Node[] =>
  askForEmail(say, email)

export const verificationCodeSent = (say: Say, { email, code }: Sent): Node[] =>
  code !== undefined && isLinkSecret(code)
    ? linkEntry(say, code)
    : [...codeEntry(say, { label: 1070011, code }), resendTo(say, email)]

/** For whoever has shown a mailbox, and not yet that the account is theirs. */
export const confirmChoice = (say: Say, { mayRecover }: { mayRecover: boolean }): Node[] => [
  submit('code', 'confirm_by', 'sign_in', say(1900008)),
  ...(mayRecover ? [submit('code', 'confirm_by', 'recovery', say(1900009))] : []),
]

/** A way on, for those who came from somewhere; `continueTo` has been checked to be the tenant's. */
export const verificationDone = (say: Say, { continueTo }: { continueTo?: string } = {}): Node[] =>
  continueTo === undefined ? [] : [link('code', 'continue', continueTo, say(1070009))]
