import { isMinted } from '../../../../../platform/crypto.ts'
import type { Node } from '../../model.ts'
import { askForEmail } from './account-nodes.ts'
import { link, submit } from './builders.ts'
import { codeEntry, linkEntry, resendTo } from './code-entry.ts'
import type { Say } from './messages.ts'

interface Sent {
  email: string
  /** Filled in by the link of a mail; the user still has to submit it. */
  code?: string
}

/** Tells the secret of a link from a six-digit code. */
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

/** For users who have proven a mailbox, but not ownership of the account. */
export const confirmChoice = (say: Say, { mayRecover }: { mayRecover: boolean }): Node[] => [
  submit('code', 'confirm_by', 'sign_in', say(1900008)),
  ...(mayRecover ? [submit('code', 'confirm_by', 'recovery', say(1900009))] : []),
]

/** A link back to the app, if any. `continueTo` was checked against the tenant's list. */
export const verificationDone = (say: Say, { continueTo }: { continueTo?: string } = {}): Node[] =>
  continueTo === undefined ? [] : [link('code', 'continue', continueTo, say(1070009))]
