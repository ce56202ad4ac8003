import { t } from 'elysia'
import { type Format, jsonRequest, type Notice } from './format.ts'
import { cut, originOf, toneOf } from './texts.ts'

const Settings = t.Object({
  server: t.String({
    expected: 'the URL of an ntfy server, such as https://ntfy.sh',
    maxLength: 2000,
    examples: ['https://ntfy.sh'],
  }),
  topic: t.String({
    pattern: '^[-_A-Za-z0-9]{1,64}$',
    expected: 'up to 64 letters, digits, hyphens and underscores',
    examples: ['gatehouse-alerts'],
  }),
  /** An access token of a protected topic. */
  token: t.Optional(
    t.Nullable(
      t.String({
        pattern: '^[\\x21-\\x7e]{1,200}$',
        expected: 'an access token, such as tk_…',
        examples: ['tk_XXXX'],
      }),
    ),
  ),
})
type Settings = typeof Settings.static

/** https://docs.ntfy.sh/publish/#publish-as-json: without Markdown, so that names stay as they are. */
export const ntfy: Format<Settings> = {
  type: 'ntfy',
  label: 'ntfy',
  Settings,
  secrets: ['token'],
  hintOf: ({ server, topic }) => `${new URL(server).host}/${topic}`,
  requestOf: ({ server, topic, token }, notice) =>
    jsonRequest(
      server,
      {
        topic,
        title: cut(notice.title, 250),
        message: cut(`${notice.text || notice.title}\n${originOf(notice)}`, 2000),
        priority: priorityOf(notice),
        tags: [TAGS[toneOf(notice)]],
        click: notice.url,
      },
      token ? { authorization: `Bearer ${token}` } : {},
    ),
}

/** 5 makes a phone ring through silence, which is for the person to choose. */
const priorityOf = (notice: Notice): number =>
  ({ critical: 4, warning: 3, resolved: 2 })[toneOf(notice)]

/** https://docs.ntfy.sh/emojis/ */
const TAGS = {
  critical: 'rotating_light',
  warning: 'warning',
  resolved: 'white_check_mark',
} as const
