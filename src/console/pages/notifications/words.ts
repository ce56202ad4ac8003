import type { ChannelType } from '../../../engines/notifications/index.ts'
import type { AlertKind } from '../../../platform/alerts/index.ts'
import type { OperatorPageContext } from '../../page.tsx'

export const TYPE_WORDS: Record<ChannelType, { label: string; text: string }> = {
  owners: { label: 'Owners by email', text: 'Every owner with a verified email address' },
  email: { label: 'Email', text: 'One member with a verified email address' },
  webhook: { label: 'Webhook', text: 'A signed request to your own service' },
  slack: { label: 'Slack', text: 'An incoming webhook of Slack, Mattermost or Rocket.Chat' },
  discord: { label: 'Discord', text: 'A webhook of a Discord channel' },
  ntfy: { label: 'ntfy', text: 'Push notifications to phones, by ntfy.sh or your own server' },
  telegram: { label: 'Telegram', text: 'A chat that your bot is a member of' },
  http: { label: 'HTTP request', text: 'Any other service, with a request of your own' },
}

/** Kinds that channels of tenants can choose. */
export const KINDS_OF_TENANT: Partial<Record<AlertKind, string>> = {
  'job.failed': 'Job failed',
  'monitor.down': 'Monitor is down',
  'endpoint.failing': 'Endpoint is failing',
  'endpoint.disabled': 'Endpoint disabled',
  'message.exhausted': 'Event not delivered',
  'bot.failing': 'Bot has a problem',
  'usage.threshold': 'Usage threshold reached',
  'spend_cap.reached': 'Spend cap reached',
}

export const KINDS_OF_INSTALLATION: Partial<Record<AlertKind, string>> = {
  'mail.failing': 'Emails are not sent',
  'backlog.growing': 'Work is late',
  'backup.failed': 'Backup failed',
  'backup.overdue': 'Backup overdue',
  'replica.unreachable': 'Replica unreachable',
  'server.failed_over': 'Server stopped, another took over',
  'standby.missing': 'No standby ready',
  'database.set_aside': 'Database set aside',
  'disk.low': 'Disk almost full',
  'database.damaged': 'Database damaged or moved',
  'version.new': 'New version available',
}

/** Paths of the channels of a tenant, and of the installation. */
export const OF_TENANT = '/settings/notifications'
export const OF_INSTALLATION = '/notifications'

/** A request to a page of channels. */
export type Context = OperatorPageContext<string> & { params: Record<string, string> }
