import { t } from 'elysia'
import type { Notice } from './format.ts'
import { cut, originOf, SIGNS, toneOf } from './texts.ts'

/** Telegram's limit is 4096 characters. */
const MAX_LENGTH = 4000

/** A chat that the tenant's bot is a member of. */
export const TelegramSettings = t.Object({
  chat_id: t.String({
    pattern: '^(-?\\d{1,19}|@\\w{5,32})$',
    expected: 'the ID of a chat, such as -1001234567890, or the @name of a channel',
    examples: ['-1001234567890'],
  }),
})
export type TelegramSettings = typeof TelegramSettings.static

/** Plain text, in which nothing that a tenant wrote is markup. https://core.telegram.org/bots/api#sendmessage */
export const telegramText = (notice: Notice): string =>
  cut(
    [
      `${SIGNS[toneOf(notice)]} ${notice.title}`,
      ...(notice.text === '' ? [] : [notice.text]),
      `${originOf(notice)} · ${notice.url}`,
    ].join('\n'),
    MAX_LENGTH,
  )
