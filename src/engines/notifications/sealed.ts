import { sealedColumn } from '../../platform/sealing/column.ts'
import { notificationChannels } from './schema.ts'

export const channelSettings = sealedColumn({
  column: notificationChannels.settings,
  purpose: 'notification channels',
  named: { id: notificationChannels.id },
  boundTo: ({ id }) => `notification_channels/${id}/settings`,
})

/** The sealed columns of notifications. */
export const sealed = [channelSettings]
