import type { Node } from '../../model.ts'
import { emailTitle, type Prefilled } from './account-nodes.ts'
import { field, submit } from './builders.ts'
import { codeEntry, resendCode } from './code-entry.ts'
import type { Say } from './messages.ts'

/** The identifier to sign in with. */
export const identifierNode = (say: Say, { value, isHidden = false }: Prefilled = {}): Node =>
  field(
    'default',
    {
      name: 'identifier',
      ...(isHidden ? { type: 'hidden' } : { type: 'text', autocomplete: 'username' }),
      value,
    },
    emailTitle(say),
  )

/** `isRefresh` if a signed-in user has to authenticate again. */
export const passwordLogin = (say: Say, { isRefresh }: { isRefresh: boolean }): Node[] => [
  field(
    'password',
    { name: 'password', type: 'password', autocomplete: 'current-password' },
    say(1070001),
  ),
  submit('password', 'method', 'password', say(isRefresh ? 1010001 : 1010022)),
]

export const codeLogin = (say: Say): Node[] => [submit('code', 'method', 'code', say(1010015))]

export const codeLoginSent = (say: Say, { identifier }: { identifier: string }): Node[] => [
  identifierNode(say, { value: identifier, isHidden: true }),
  ...codeEntry(say, { label: 1070013 }),
  resendCode(say),
]

export const totpLogin = (say: Say): Node[] => [
  field('totp', { name: 'totp_code', type: 'text', autocomplete: 'one-time-code' }, say(1010006)),
  submit('totp', 'method', 'totp', say(1010009)),
]

export const lookupLogin = (say: Say): Node[] => [
  field('lookup_secret', { name: 'lookup_secret', type: 'text' }, say(1010007)),
  submit('lookup_secret', 'method', 'lookup_secret', say(1010010)),
]
