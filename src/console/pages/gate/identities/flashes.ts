import { flash } from '../parts.ts'

const MESSAGES = {
  created: flash.good('User created.'),
  metadata: flash.good('Metadata saved.'),
  active: flash.good('User activated.'),
  inactive: flash.good('User deactivated. Their sessions and access tokens have ended.'),
  credential: flash.good('Sign-in method removed. Existing sessions continue.'),
  session: flash.good('Session ended.'),
  sessions: flash.good('All sessions ended.'),
  mailed: flash.good('Email sent.'),
  kept: flash.warn(
    'The email is held in the outbox, because this installation has no mail server.',
  ),
  enough: flash.warn(
    'Not sent: too many emails to this address or from your team. Try again later.',
  ),
}

/** Message about the last action on a user. */
export type FlashKey = keyof typeof MESSAGES

export const FLASHES = new Map(Object.entries(MESSAGES))
