import { flash } from '../parts.ts'

const SAID = {
  created: flash.good('Created.'),
  metadata: flash.good('Metadata saved.'),
  active: flash.good('Activated. They can sign in again.'),
  inactive: flash.good('Deactivated. Their sessions and access tokens have ended.'),
  credential: flash.good('Removed. Sessions go on.'),
  session: flash.good('Session ended.'),
  sessions: flash.good('All sessions ended.'),
  mailed: flash.good('The mail is on its way.'),
  kept: flash.warn('The mail is kept in the outbox: this installation has no mail server.'),
  enough: flash.warn(
    'Not sent: this address has had enough mails for now, or your team has sent too many. Try again later.',
  ),
}

/** What has just been done to somebody. */
export type DoneTo = keyof typeof SAID

export const FLASHES = new Map(Object.entries(SAID))
