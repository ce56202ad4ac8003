import type { ChannelType } from '../channel-types.ts'
import { discord } from './discord.ts'
import { email, owners } from './email.ts'
import type { Format, Notice, NoticeRequest } from './format.ts'
import { http } from './http.ts'
import { ntfy } from './ntfy.ts'
import { slack } from './slack.ts'
import { TelegramSettings } from './telegram.ts'
import { webhook } from './webhook.ts'

export { telegramText } from './telegram.ts'

/** Settings are checked by the schema of their type before a format gets them. */
type AnyFormat = Omit<Format<never>, 'requestOf'> & {
  /** `now` is the time of the attempt, in milliseconds since the epoch. */
  requestOf?: (settings: never, notice: Notice, now: number) => NoticeRequest
}

const telegram = {
  type: 'telegram',
  label: 'Telegram',
  Settings: TelegramSettings,
  secrets: [],
  hintOf: ({ chat_id }: TelegramSettings) => `Chat ${chat_id}`,
}

/** Types of channels. Those without a request are sent by the mail outbox, or by the tenant's bot. */
export const FORMATS: Record<ChannelType, AnyFormat> = {
  owners,
  email,
  webhook,
  slack,
  discord,
  ntfy,
  telegram,
  http,
}
