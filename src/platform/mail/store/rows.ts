import type { mails } from '../../schema.ts'

export type MailRow = typeof mails.$inferSelect

export type MailState = MailRow['state']

export type NewMail = Pick<
  MailRow,
  | 'id'
  | 'tenantId'
  | 'about'
  | 'kind'
  | 'recipient'
  | 'recipientHash'
  | 'subject'
  | 'body'
  | 'state'
  | 'expiresAt'
  | 'lastError'
  | 'createdAt'
  | 'endedAt'
>

/**
 * A mail with a try under way, which its attempt id names; `tries` counts that one. What was
 * blanked is over, and so is never leased.
 */
export type LeasedMail = MailRow & {
  recipient: string
  subject: string
  attemptId: string
  startedAt: number
}
