/** How people are notified of alerts. */
export const CHANNEL_TYPES = [
  'owners',
  'email',
  'webhook',
  'slack',
  'discord',
  'ntfy',
  'telegram',
  'http',
] as const
export type ChannelType = (typeof CHANNEL_TYPES)[number]
