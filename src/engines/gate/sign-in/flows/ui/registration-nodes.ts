import type { Node } from '../../model.ts'
import { emailTrait, newPassword } from './account-nodes.ts'
import { submit } from './builders.ts'
import { codeEntry, resendCode } from './code-entry.ts'
import type { Say } from './messages.ts'

export const passwordRegistration = (say: Say): Node[] => [
  newPassword(say),
  submit('password', 'method', 'password', say(1040001)),
]

export const codeRegistration = (say: Say): Node[] => [
  submit('code', 'method', 'code', say(1040006)),
]

export const codeRegistrationSent = (say: Say, { email }: { email: string }): Node[] => [
  emailTrait(say, { value: email, isHidden: true }),
  ...codeEntry(say, { label: 1070012 }),
  resendCode(say),
]
