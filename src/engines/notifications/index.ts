import type { Access } from '../../http/access.ts'
import { consoleUrl } from '../../http/urls.ts'
import { createDueLoop } from '../../platform/due/loop.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { Mail } from '../../platform/mail/index.ts'
import type { Platform } from '../../platform/platform.ts'
import type { RetentionRule } from '../../platform/retention.ts'
import { createChannels } from './channels/channels.ts'
import { createChecks } from './channels/checks.ts'
import { createChannelStore } from './channels/store.ts'
import { createTestNotice } from './channels/test-notice.ts'
import { createLists } from './lists.ts'
import { createMuting } from './muting.ts'
import { createAnnouncements } from './notices/announcements.ts'
import { createListeners } from './notices/listeners.ts'
import { createNoticeQueue } from './notices/queue.ts'
import { createSend, type SendByBot } from './notices/send.ts'
import { createSettling } from './notices/settling.ts'
import { createNoticeStore } from './notices/store.ts'
import type { Recipients } from './recipients.ts'
import { createRoutes } from './routes.ts'
import { watchUsage } from './usage-alerts.ts'

export { CHANNEL_TYPES, type ChannelType } from './channel-types.ts'
export type { Channel, NewChannel } from './channels/channels.ts'
export { settingsOf } from './channels/settings.ts'
export type { TestResult } from './channels/test-notice.ts'
export type { Alert, LogEntry } from './model.ts'
export { MUTES, type Mute } from './muting.ts'
export { presentChannel } from './present.ts'

export type Notifications = ReturnType<typeof createNotifications>

const KEPT_MS = 90 * DAY_MS

/** Tells tenants, and admins of the installation, of alerts by the channels that they have set up. */
export function createNotifications(
  platform: Platform,
  parts: {
    mail: Pick<Mail, 'hasServer' | 'post'>
    recipients: Recipients
    sendByBot: SendByBot
    /** The base URL, without a trailing slash. */
    baseUrl: () => string
    access: Access
  },
) {
  const { db, clock, log, instances, sealing, alerts, tenants, retention, resources } = platform
  const { mail, baseUrl, access } = parts
  const { nameOf } = tenants
  const store = createNoticeStore(db)
  const channelStore = createChannelStore(db)
  const listenersOf = createListeners({ channels: channelStore, mail })
  const send = createSend({ ...platform, ...parts })
  const checks = createChecks({ ...platform, ...parts })
  const channels = createChannels({ ...platform, store: channelStore, checks })
  const lists = createLists({ clock, alerts, channels, store, urlOf })
  const muting = createMuting(platform)
  const test = createTestNotice({ db, clock, channels, mail, send, nameOf, urlOf })
  const queue = createNoticeQueue({
    clock,
    sealing,
    alerts,
    store,
    announcements: createAnnouncements({ clock, store, listenersOf, nameOf }),
    channels: channelStore,
    settling: createSettling({ clock, store, channels: channelStore, mail }),
    send,
    urlOf,
  })
  const loop = createDueLoop({ queue, db, clock, log, instances })
  alerts.onDue(loop.nudge)
  watchUsage(platform)
  retention.add(noticeRetention(store))
  resources.add(
    'notifications:channel',
    (tenantId, id) => channelStore.find(tenantId, id) !== undefined,
  )

  /** The address of a page of the console. */
  function urlOf(tenantId: string | null, path: string): string {
    return consoleUrl(baseUrl(), tenantId, path)
  }

  return {
    channels,
    /** Whether owners are notified by email, because no channel is set up. */
    tellsOwners: (tenantId: string | null): boolean =>
      mail.hasServer && channelStore.list(tenantId).length === 0,
    lists,
    muting,
    test,
    routes: createRoutes({ ...platform, channels, lists, muting, test, access }),
    log: store.list,
    start: loop.start,
    stop: loop.stop,
    idle: loop.idle,
  }
}

const noticeRetention = ({
  removeBefore,
}: ReturnType<typeof createNoticeStore>): RetentionRule => ({
  name: 'notices',
  deleteSlice: (now, limit) => removeBefore(now - KEPT_MS, limit),
})
