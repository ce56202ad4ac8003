import { DAY_MS } from '../../../platform/durations.ts'
import { type NewMail, renderMail } from '../../../platform/mail/index.ts'
import type { Notice } from '../formats/format.ts'
import { originOf, SIGNS, toneOf } from '../formats/texts.ts'

/** Sent on behalf of the installation: a tenant's own mails go to its users, not to its team. */
export function noticeMail(notice: Notice, recipient: string, now: number): NewMail {
  const tenantName = originOf(notice)
  const body = renderMail({
    language: 'en',
    tenantName,
    heading: notice.title,
    paragraphs: [notice.text].filter(Boolean),
    link: { label: 'View', url: notice.url, orOpen: 'Or copy this link into your browser:' },
    footer:
      'You get this email because of the notification settings in Gatehouse. To change them or to mute this alert, open the link.',
  })
  return {
    ...body,
    tenantId: null,
    about: `notice:${notice.id}`,
    kind: 'alert',
    recipient,
    subject: `${SIGNS[toneOf(notice)]} ${notice.title} · ${tenantName}`,
    expiresAt: now + DAY_MS,
  }
}
