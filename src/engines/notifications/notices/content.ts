import type { AlertEvent, AlertRow } from '../../../platform/alerts/index.ts'
import { plainText, titleOf } from '../../../platform/alerts/index.ts'
import { utcMinute } from '../../../platform/time-zone.ts'
import type { Notice } from '../formats/format.ts'

/** A notice as it is stored: with the page below the tenant, as the base URL may change. */
export type Content = Omit<Notice, 'id' | 'url'> & { path: string }

/** The content of a notice about an alert. */
export function contentOf(
  event: AlertEvent,
  alert: AlertRow,
  tenant: Notice['tenant'],
  now: number,
): Content {
  return {
    event,
    kind: alert.kind,
    severity: alert.severity,
    title: titleOf(alert),
    text: event === 'resolved' ? endOf(alert) : plainText(`${alert.text}${timesOf(alert)}`),
    subject: { id: alert.subject, name: alert.name },
    tenant,
    openedAt: alert.openedAt,
    at: now,
    resolvedAt: alert.resolvedAt,
    count: alert.count,
    path: alert.path,
  }
}

const timesOf = ({ count, openedAt }: AlertRow): string =>
  count === 1 ? '' : ` It happened ${count} times since ${utcMinute(openedAt)}.`

/** A sentence that is complete even for a reader who missed the beginning. */
const endOf = ({ count, openedAt, resolvedAt }: AlertRow): string =>
  `It happened ${count === 1 ? 'once' : `${count} times`} since ${utcMinute(openedAt)}, and ended at ${utcMinute(resolvedAt ?? openedAt)}.`

/** Titles in a notice that sums up others. */
const MAX_TITLES = 5

/** A notice in place of those beyond the limit of a channel; `before` is what it has summed up so far. */
export function summaryOf(content: Content, before: Content | undefined): Content {
  const count = (before?.count ?? 0) + 1
  const text =
    count <= MAX_TITLES
      ? [before?.text, content.title].filter(Boolean).join(' · ')
      : (before?.text ?? '')
  return {
    ...content,
    event: 'opened',
    kind: 'alerts.summary',
    severity: before?.severity === 'critical' ? 'critical' : content.severity,
    title: count === 1 ? '1 more alert' : `${count} more alerts`,
    text: plainText(text),
    subject: { id: 'alerts', name: 'Alerts' },
    openedAt: before?.openedAt ?? content.openedAt,
    at: before?.at ?? content.at,
    resolvedAt: null,
    count,
    path: '/alerts',
  }
}
