import { type AlertRow, titleOf } from '../../platform/alerts/index.ts'
import { isoOrNull, isoTime } from '../../platform/clock.ts'
import type { ChannelFields, Channel as ChannelRecord } from './channels/channels.ts'
import type { Alert, Channel, ChannelChange, LogEntry } from './model.ts'
import { UNTIL_UNMUTED } from './muting.ts'
import type { NoticeRow } from './notices/store.ts'

export const presentChannel = (of: ChannelRecord): Channel => ({
  id: of.id,
  type: of.type,
  name: of.name,
  hint: of.hint,
  settings: of.settings,
  kinds: of.kinds,
  min_severity: of.minSeverity,
  active: of.isActive,
  last_attempt_at: isoOrNull(of.lastAt),
  last_error: of.lastError,
  created_at: isoTime(of.createdAt),
  updated_at: isoTime(of.updatedAt),
})

export function presentAlert(of: AlertRow, { now, url }: { now: number; url: string }): Alert {
  const { mutedUntil } = of
  const isMuted = mutedUntil !== null && mutedUntil > now
  return {
    id: of.id,
    kind: of.kind,
    severity: of.severity,
    title: titleOf(of),
    text: of.text,
    subject: { id: of.subject, name: of.name },
    state: of.state,
    opened_at: isoTime(of.openedAt),
    last_at: isoTime(of.lastAt),
    count: of.count,
    resolved_at: isoOrNull(of.resolvedAt),
    url,
    muted: isMuted,
    muted_until: isMuted && mutedUntil !== UNTIL_UNMUTED ? isoTime(mutedUntil) : null,
  }
}

export const presentNotice = (of: NoticeRow): LogEntry => ({
  id: of.id,
  channel_id: of.channelId,
  channel_name: of.channelName,
  event: of.event,
  kind: of.kind,
  severity: of.severity,
  title: of.title,
  status: of.state === 'sent' || of.state === 'failed' ? of.state : 'pending',
  attempts: of.tries,
  next_attempt_at: of.endedAt === null ? isoTime(of.dueAt) : null,
  error: of.lastError,
  created_at: isoTime(of.createdAt),
  ended_at: isoOrNull(of.endedAt),
})

/** The given fields of a request. */
export const fieldsOf = (of: ChannelChange): Partial<ChannelFields> => ({
  ...(of.name !== undefined && { name: of.name }),
  ...(of.settings !== undefined && { settings: of.settings }),
  ...(of.kinds !== undefined && { kinds: of.kinds }),
  ...(of.min_severity !== undefined && { minSeverity: of.min_severity }),
  ...(of.active !== undefined && { isActive: of.active }),
})
