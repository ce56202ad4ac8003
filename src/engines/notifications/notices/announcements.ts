import type { AlertEvent, AlertRow } from '../../../platform/alerts/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { HOUR_MS } from '../../../platform/durations.ts'
import { newId } from '../../../platform/ids.ts'
import type { Notice } from '../formats/format.ts'
import { type Content, contentOf, summaryOf } from './content.ts'
import type { Listener } from './listeners.ts'
import type { createNoticeStore } from './store.ts'

/** Notices of a channel in an hour. Further ones are summed up in one. */
export const NOTICES_AN_HOUR = 60

/** Turns announcements into notices, one for each channel, in the commit that marks the alert as announced. */
export function createAnnouncements(parts: {
  clock: Clock
  store: ReturnType<typeof createNoticeStore>
  listenersOf: (tenantId: string | null) => Listener[]
  nameOf: (tenantId: string) => string
}) {
  const { clock, store, listenersOf, nameOf } = parts

  function announce(event: AlertEvent, alert: AlertRow) {
    const { tenantId } = alert
    const tenant = tenantId === null ? null : { id: tenantId, name: nameOf(tenantId) }
    const content = contentOf(event, alert, tenant, clock.now())
    for (const listener of listenersOf(tenantId))
      if (listener.hears(alert)) tell(tenant, listener, content)
  }

  function tell(tenant: Notice['tenant'], listener: Listener, content: Content) {
    const now = clock.now()
    const tenantId = tenant?.id ?? null
    const since = now - HOUR_MS
    const summary = store.summary(tenantId, listener.id, since - HOUR_MS)
    if (summary) {
      const next = summaryOf(content, JSON.parse(summary.content))
      return store.rewrite(summary.seq, next.title, JSON.stringify(next))
    }
    const recent = store.recent(tenantId, listener.id, since, NOTICES_AN_HOUR)
    const oldest = recent.at(NOTICES_AN_HOUR - 1)
    if (oldest === undefined) return insert(tenantId, listener, content, 'ready', now)
    insert(tenantId, listener, summaryOf(content, undefined), 'waiting', oldest + HOUR_MS)
  }

  function insert(
    tenantId: string | null,
    channel: Listener,
    content: Content,
    state: 'ready' | 'waiting',
    dueAt: number,
  ) {
    const { event, kind, severity, title } = content
    store.insert({
      id: newId(),
      tenantId,
      channelId: channel.id,
      channelName: channel.name,
      event,
      kind,
      severity,
      title,
      content: JSON.stringify(content),
      state,
      tries: 0,
      dueAt,
      lastError: null,
      createdAt: clock.now(),
      endedAt: null,
    })
  }

  return { announce }
}
