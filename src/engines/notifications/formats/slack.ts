import { t } from 'elysia'
import { type Format, hintOfSecretUrl, jsonRequest, type Notice } from './format.ts'
import { COLORS, cut, originOf, SIGNS, toneOf } from './texts.ts'

const Settings = t.Object({
  url: t.String({
    expected: 'the URL of an incoming webhook, such as https://hooks.slack.com/services/…',
    maxLength: 2000,
    examples: ['https://hooks.slack.com/services/T000/B000/XXXX'],
  }),
})
type Settings = typeof Settings.static

/**
 * Incoming webhooks of Slack, which Mattermost and Rocket.Chat understand as well. Names of tenants
 * are plain text or escaped, so that none of them notifies a channel with `<!channel>` or `@all`.
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export const slack: Format<Settings> = {
  type: 'slack',
  label: 'Slack',
  Settings,
  secrets: ['url'],
  hintOf: ({ url }) => hintOfSecretUrl(url),
  requestOf: ({ url }, notice) =>
    jsonRequest(url, {
      // Shown in notifications of the desktop, and by receivers that don't know blocks.
      text: escaped(cut(`${SIGNS[toneOf(notice)]} ${notice.title}`, 1000)),
      attachments: [{ color: COLORS[toneOf(notice)], blocks: blocksOf(notice) }],
    }),
}

/** https://docs.slack.dev/reference/block-kit/blocks, with their limits. */
const blocksOf = (notice: Notice) => [
  { type: 'header', text: plain(notice.title, 150) },
  ...(notice.text === '' ? [] : [{ type: 'section', text: plain(notice.text, 3000) }]),
  { type: 'context', elements: [plain(`${originOf(notice)} · ${notice.kind}`, 2000)] },
  {
    type: 'actions',
    elements: [{ type: 'button', text: plain('View', 75), url: cut(notice.url, 3000) }],
  },
]

const plain = (text: string, max: number) => ({
  type: 'plain_text',
  text: cut(text, max),
  emoji: false,
})

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * https://docs.slack.dev/messaging/formatting-message-text#escaping. Mattermost and Rocket.Chat notify a
 * whole channel for `@all`, so that an invisible space follows each `@`.
 */
const escaped = (text: string): string =>
  text.replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? sign).replaceAll('@', '@\u200b')
