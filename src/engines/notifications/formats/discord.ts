import { t } from 'elysia'
import { type Format, hintOfSecretUrl, jsonRequest } from './format.ts'
import { COLORS, cut, originOf, toneOf } from './texts.ts'

const Settings = t.Object({
  url: t.String({
    expected: 'the URL of a webhook, such as https://discord.com/api/webhooks/…',
    maxLength: 2000,
    examples: ['https://discord.com/api/webhooks/000/XXXX'],
  }),
})
type Settings = typeof Settings.static

/**
 * Webhooks of Discord. Mentions are switched off, and what comes from a tenant is escaped, so that no
 * name is a link or notifies everyone. https://discord.com/developers/docs/resources/webhook#execute-webhook
 */
export const discord: Format<Settings> = {
  type: 'discord',
  label: 'Discord',
  Settings,
  secrets: ['url'],
  hintOf: ({ url }) => hintOfSecretUrl(url),
  requestOf: ({ url }, notice) =>
    jsonRequest(url, {
      username: 'Gatehouse',
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: cut(escaped(notice.title), 256),
          description: cut(escaped(notice.text), 4096),
          url: notice.url,
          color: Number.parseInt(COLORS[toneOf(notice)].slice(1), 16),
          timestamp: new Date(notice.at).toISOString(),
          footer: { text: cut(`${originOf(notice)} · ${notice.kind}`, 2048) },
        },
      ],
    }),
}

/** The signs of Discord's Markdown. */
const escaped = (text: string): string => text.replace(/[\\*_~`|>[\]()#<@:-]/g, '\\$&')
