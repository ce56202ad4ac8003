import type { Node } from '../../model.ts'
import { displayNameTrait, emailTrait, newPassword } from './account-nodes.ts'
import { field, input, picture, submit, text } from './builders.ts'
import type { MessageId, Say } from './messages.ts'

/** The name field is shown for accounts that can have a name, even if it is empty. */
export const profileSettings = (
  say: Say,
  { email, displayName }: { email: string; displayName?: string },
): Node[] => [
  emailTrait(say, { value: email }, 'profile'),
  ...(displayName === undefined ? [] : [displayNameTrait(say, displayName, 'profile')]),
  submit('profile', 'method', 'profile', say(1070003)),
]

export const passwordSettings = (say: Say): Node[] => [
  newPassword(say),
  submit('password', 'method', 'password', say(1070003)),
]

const QR_SIZE = 256

/** `qr` is a PNG as a data URL, `secret` is Base32; both encode the same secret. */
export const totpSetup = (say: Say, { qr, secret }: { qr: string; secret: string }): Node[] => [
  picture('totp', 'totp_qr', { src: qr, size: QR_SIZE }, say(1050005)),
  text('totp', 'totp_secret_key', say(1050006, { secret }), say(1050017)),
  field('totp', { name: 'totp_code', type: 'text', autocomplete: 'one-time-code' }, say(1070006)),
  submit('totp', 'method', 'totp', say(1070003)),
]

export const totpSet = (say: Say): Node[] => [
  input(
    'totp',
    { name: 'totp_unlink', type: 'submit', value: 'true', required: true },
    say(1050004),
  ),
]

export const lookupNone = (say: Say): Node[] => [lookupButton(say, 'regenerate', 1050008)]

/** No button to show the codes, because only their hashes are stored. */
export const lookupSet = (say: Say): Node[] => [
  lookupButton(say, 'regenerate', 1050008),
  lookupButton(say, 'disable', 1050016),
]

/** The codes, which are shown only once, and a button to confirm that they are saved. */
export const lookupShown = (say: Say, { codes }: { codes: readonly string[] }): Node[] => [
  text(
    'lookup_secret',
    'lookup_secret_codes',
    say(1050015, { secrets: codes.map((secret) => say(1050009, { secret })) }),
    say(1050010),
  ),
  lookupButton(say, 'confirm', 1050011),
]

const lookupButton = (
  say: Say,
  action: 'regenerate' | 'disable' | 'confirm',
  label: MessageId,
): Node => submit('lookup_secret', `lookup_secret_${action}`, 'true', say(label))
