import type { Db } from '../../../db/open.ts'
import type { Clock } from '../../../platform/clock.ts'
import { newId } from '../../../platform/ids.ts'
import type { Mail } from '../../../platform/mail/index.ts'
import type { Send } from '../notices/send.ts'
import type { Channels } from './channels.ts'
import { SAMPLE } from './checks.ts'

/** The result of a test. A posted email waits in the outbox, and may still fail. */
export interface TestResult {
  result: 'sent' | 'posted' | 'failed'
  error: string | null
}

/** Tells a channel at once and once, even one that is switched off. */
export const createTestNotice =
  (parts: {
    db: Db
    clock: Clock
    channels: Channels
    mail: Pick<Mail, 'post'>
    send: Send
    nameOf: (tenantId: string) => string
    urlOf: (tenantId: string | null, path: string) => string
  }) =>
  async (tenantId: string | null, id: string): Promise<TestResult> => {
    const { db, clock, channels, mail, send, nameOf, urlOf } = parts
    const { row, settings } = channels.open(tenantId, id)
    const now = clock.now()
    const notice = {
      ...SAMPLE,
      id: newId(),
      tenant: tenantId === null ? null : { id: tenantId, name: nameOf(tenantId) },
      openedAt: now,
      at: now,
      url: urlOf(tenantId, tenantId === null ? '/notifications' : '/settings/notifications'),
    }
    const outcome = await send(row.type, settings, notice, new AbortController().signal)
    const error = outcome.result === 'failed' ? outcome.reason : null
    await db.commitFor(tenantId ?? '', () => {
      if (outcome.result === 'posted') for (const one of outcome.mails) mail.post(one, now)
      channels.tried(tenantId, id, clock.now(), error)
    })
    return { result: outcome.result, error }
  }
