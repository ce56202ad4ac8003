import type { Branding } from '../../../../platform/branding/index.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { DAY_MS } from '../../../../platform/durations.ts'
import type { Mail } from '../../../../platform/mail/index.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { MailTemplates } from '../mail-templates/index.ts'
import type { TenantMails } from '../mail-templates/tenant-mails.ts'
import type { FlowRow } from './store.ts'

const KIND = 'notice'
/** How long a notice is worth sending. */
const NEWS_MS = DAY_MS

export type Notify = ReturnType<typeof createNotify>

/**
 * Mails the owner about a change within its commit, because someone else may have made it. Skipped
 * after enough mails: an account with another's address could be used to flood their mailbox.
 */
export const createNotify =
  ({
    clock,
    mail,
    branding,
    tenantMails,
  }: {
    clock: Clock
    mail: Mail
    branding: Pick<Branding, 'nameOf'>
    tenantMails: Pick<TenantMails, 'templatesFor'>
  }) =>
  (
    { tenantId, language }: Pick<FlowRow, 'tenantId' | 'language'>,
    { id, email }: IdentityRow,
    write: (
      mailTemplates: MailTemplates,
      about: { tenantName: string },
    ) => { subject: string; text: string; html: string },
  ) => {
    const now = clock.now()
    if (!mail.allowance(tenantId, email, now, KIND).allowed) return
    const content = write(tenantMails.templatesFor(tenantId, language), {
      tenantName: branding.nameOf(tenantId),
    })
    const expiresAt = now + NEWS_MS
    mail.post({ tenantId, about: id, kind: KIND, recipient: email, expiresAt, ...content }, now)
  }
