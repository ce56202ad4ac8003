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

/** `tries` includes this attempt. Never an erased mail, so the recipient and subject are set. */
export type LeasedMail = MailRow & {
  recipient: string
  subject: string
  attemptId: string
  startedAt: number
}
