import type { Alerts } from '../../../platform/alerts/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { DueQueue, Holders, Lane, Lease } from '../../../platform/due/queue.ts'
import { newId } from '../../../platform/ids.ts'
import type { Sealing } from '../../../platform/sealing/index.ts'
import type { ChannelType } from '../channel-types.ts'
import { openSettings, type Settings, UNREADABLE } from '../channels/settings.ts'
import type { createChannelStore } from '../channels/store.ts'
import type { Notice } from '../formats/format.ts'
import type { createAnnouncements } from './announcements.ts'
import type { Content } from './content.ts'
import { OWNERS } from './listeners.ts'
import { type Outcome, type Send, TIMEOUT_MS } from './send.ts'
import type { createSettling } from './settling.ts'
import type { createNoticeStore, LeasedNotice } from './store.ts'

interface Try extends Lane {
  notice: LeasedNotice
}

/** Rows that one commit changes. Each alert may notify 20 channels. */
const ALERTS_SLICE = 50
const SLICE = 300

/** Each channel is a lane of its own, so that a dead one delays no other. */
const LIMITS = { total: 64, perTenant: 16, perTarget: 2, perLane: 2, isShared: true }

const BROKEN = 'Gatehouse failed to send it; see the server log'
const GONE = 'the channel was deleted or switched off'

/** Notices for the due loop, which also turns alerts that have to be announced into notices. */
export function createNoticeQueue(parts: {
  clock: Clock
  sealing: Sealing
  alerts: Alerts
  announcements: ReturnType<typeof createAnnouncements>
  store: ReturnType<typeof createNoticeStore>
  channels: ReturnType<typeof createChannelStore>
  settling: ReturnType<typeof createSettling>
  send: Send
  urlOf: (tenantId: string | null, path: string) => string
}): DueQueue<Try, Outcome> {
  const { clock, sealing, alerts, announcements, store, channels, settling, send, urlOf } = parts

  function nextDueAt(): number | undefined {
    const [alert, notice] = [alerts.firstDueAt(), store.firstWaitingAt()]
    if (alert === undefined || notice === undefined) return alert ?? notice
    return Math.min(alert, notice)
  }

  function promote(now: number): boolean {
    const hasMore = alerts.announce(ALERTS_SLICE, announcements.announce)
    return store.promote(now, SLICE) || hasMore
  }

  const claim = (lane: Lane, limit: number, lease: Lease): Try[] =>
    store.ready(lane, limit).flatMap((row) => {
      const attempt = { attemptId: newId(), tries: row.tries + 1 }
      const notice = store.lease(row, attempt, lease)
      return notice ? { ...lane, notice: notice as LeasedNotice } : []
    })

  async function perform({ notice }: Try, signal: AbortSignal): Promise<Outcome> {
    const channel = channelOf(notice)
    if (typeof channel === 'string') return { result: 'failed', reason: channel, isFinal: true }
    return send(channel.type, channel.settings, noticeOf(notice), signal)
  }

  /** What is needed to notify a channel, or why that is impossible. */
  function channelOf({
    tenantId,
    channelId,
  }: LeasedNotice): { type: ChannelType; settings: Settings } | string {
    if (channelId === OWNERS.id) return { type: 'owners', settings: {} }
    const row = channels.find(tenantId, channelId)
    if (!row?.isActive) return GONE
    try {
      return { type: row.type, settings: openSettings(sealing, row.id, row.settings) }
    } catch {
      return UNREADABLE
    }
  }

  function noticeOf({ id, tenantId, content }: LeasedNotice): Notice {
    const { path, ...rest }: Content = JSON.parse(content)
    return { ...rest, id, url: urlOf(tenantId, path) }
  }

  const broken = (): Outcome => ({ result: 'failed', reason: BROKEN })
  const settle = ({ notice }: Try, outcome: Outcome) => settling.end(notice, outcome)

  function reclaim(holders: Holders) {
    for (const notice of store.lost(holders, SLICE)) settling.interrupt(notice, clock.now())
  }

  return {
    name: 'notices',
    limits: LIMITS,
    longestMs: TIMEOUT_MS,
    nextDueAt,
    promote,
    nextLane: store.nextLane,
    claim,
    perform,
    broken,
    settle,
    hasLost: store.hasLost,
    reclaim,
  }
}
