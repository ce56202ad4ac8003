import type { MailKind, Placeholder } from '../../../engines/gate/sign-in/mail-templates/texts.ts'
import type { Language } from '../../../engines/gate/sign-in/model.ts'

interface MailName {
  name: string
  /** When it is sent. */
  when: string
}

/** The emails of a tenant, in the order of the list. */
export const MAIL_NAMES: Record<MailKind, MailName> = {
  verification: { name: 'Verify email address', when: 'After sign-up, and on request' },
  recovery: { name: 'Recover account', when: 'When a user forgot the password' },
  login_code: { name: 'Sign-in code', when: 'For sign-in by email code' },
  registration_code: { name: 'Sign-up code', when: 'For sign-up by email code' },
  email_change: { name: 'Verify new email address', when: 'To the new address of an account' },
  email_change_notice: {
    name: 'Email change requested',
    when: 'To the current address of an account',
  },
  email_changed_by_admin: {
    name: 'Email changed by an administrator',
    when: 'To the previous address, if it was verified, after a change in the console',
  },
  password_changed: { name: 'Password changed', when: 'After a password was changed' },
  second_factor_enabled: { name: 'Two-factor turned on', when: 'After a user set it up' },
  second_factor_disabled: { name: 'Two-factor turned off', when: 'After a user removed it' },
}

export const LANGUAGE_NAMES: Record<Language, string> = { en: 'English', de: 'German' }

export const PLACEHOLDER_MEANINGS: Record<Placeholder, string> = {
  name: 'display name',
  lifetime: 'how long the code works',
  new_address: 'new address, partly hidden',
}
