import { t } from 'elysia'
import { sign } from '../../../delivery/signing.ts'
import { liveSecrets, type SigningSecret } from '../../../delivery/signing-secrets.ts'
import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import { jsonRequest, type Notice, type NoticeRequest } from './format.ts'

const Settings = t.Object({
  url: t.String({
    maxLength: 2000,
    expected: 'an http or https URL',
    examples: ['https://example.com/alerts'],
  }),
})

/** As stored. The secrets are made here, shown once and rotated. */
export type WebhookSettings = typeof Settings.static & { secrets: SigningSecret[] }

/** Any receiver, by a request that is signed like an event: https://www.standardwebhooks.com */
export const webhook = {
  type: 'webhook',
  label: 'Webhook',
  Settings,
  secrets: ['secrets'],
  hintOf: ({ url }: WebhookSettings) => new URL(url).host,

  requestOf({ url, secrets }: WebhookSettings, notice: Notice, now: number): NoticeRequest {
    const request = jsonRequest(url, bodyOf(notice))
    const timestamp = Math.floor(now / 1000)
    const { id } = notice
    const { body } = request
    const { standard } = sign({ id, timestamp, body, secrets: liveSecrets(secrets, now) })
    const headers = {
      ...request.headers,
      'webhook-id': id,
      'webhook-timestamp': `${timestamp}`,
      'webhook-signature': standard,
    }
    return { ...request, headers }
  },
}

const bodyOf = (notice: Notice) => ({
  type: `alert.${notice.event}`,
  timestamp: isoTime(notice.at),
  data: {
    id: notice.id,
    kind: notice.kind,
    severity: notice.severity,
    title: notice.title,
    text: notice.text,
    subject: notice.subject,
    tenant: notice.tenant,
    opened_at: isoTime(notice.openedAt),
    resolved_at: isoOrNull(notice.resolvedAt),
    count: notice.count,
    url: notice.url,
  },
})
