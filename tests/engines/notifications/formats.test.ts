import { expect, test } from 'bun:test'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { discord } from '../../../src/engines/notifications/formats/discord.ts'
import type { Format, Notice } from '../../../src/engines/notifications/formats/format.ts'
import { http } from '../../../src/engines/notifications/formats/http.ts'
import { ntfy } from '../../../src/engines/notifications/formats/ntfy.ts'
import { slack } from '../../../src/engines/notifications/formats/slack.ts'
import { telegramText } from '../../../src/engines/notifications/formats/telegram.ts'
import { AppError } from '../../../src/platform/errors.ts'

const NOTICE: Notice = {
  id: 'ntc_1',
  event: 'opened',
  kind: 'job.failed',
  severity: 'critical',
  title: 'Job Nightly report is failing',
  text: 'Status 500. It has failed 3 times.',
  subject: { id: 'job:1', name: 'Nightly report' },
  tenant: { id: 'tnt_1', name: 'Acme' },
  openedAt: Date.parse('2026-03-01T12:00:00Z'),
  at: Date.parse('2026-03-01T12:01:00Z'),
  resolvedAt: null,
  count: 3,
  url: 'https://gatehouse.example.com/console/acme/jobs/1',
}

/** What a tenant can name a job, and more than any service takes. */
const HOSTILE: Notice = {
  ...NOTICE,
  title: `<!channel> @everyone [x](https://evil.example) "quoted" \\ ${'💥'.repeat(5000)}`,
  text: `<https://evil.example|click> **bold** ${'y'.repeat(9000)}`,
  tenant: { id: 'tnt_2', name: '<b>&amp;" } ] '.repeat(1000) },
}

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength })
const closed = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const plainText = (max: number) =>
  closed({ type: { const: 'plain_text' }, text: text(max), emoji: { type: 'boolean' } })
const url = (maxLength: number) => ({ type: 'string', format: 'uri', maxLength })

/** The bodies that the services document, with their limits. */
const DOCUMENTED = {
  slack: closed({
    text: text(40_000),
    attachments: {
      type: 'array',
      maxItems: 100,
      items: closed({
        color: { type: 'string', pattern: '^#[0-9a-f]{6}$' },
        blocks: {
          type: 'array',
          maxItems: 50,
          items: {
            oneOf: [
              closed({ type: { const: 'header' }, text: plainText(150) }),
              closed({ type: { const: 'section' }, text: plainText(3000) }),
              closed({
                type: { const: 'context' },
                elements: { type: 'array', maxItems: 10, items: plainText(2000) },
              }),
              closed({
                type: { const: 'actions' },
                elements: {
                  type: 'array',
                  maxItems: 25,
                  items: closed({ type: { const: 'button' }, text: plainText(75), url: url(3000) }),
                },
              }),
            ],
          },
        },
      }),
    },
  }),
  discord: closed({
    username: text(80),
    allowed_mentions: closed({ parse: { type: 'array', maxItems: 0 } }),
    embeds: {
      type: 'array',
      maxItems: 10,
      items: closed({
        title: text(256),
        description: { type: 'string', maxLength: 4096 },
        url: url(2048),
        color: { type: 'integer', minimum: 0, maximum: 0xff_ff_ff },
        timestamp: { type: 'string', format: 'date-time' },
        footer: closed({ text: text(2048) }),
      }),
    },
  }),
  ntfy: closed({
    topic: { type: 'string', pattern: '^[-_A-Za-z0-9]{1,64}$' },
    title: text(250),
    message: text(4096),
    priority: { type: 'integer', minimum: 1, maximum: 5 },
    tags: { type: 'array', items: text(50) },
    click: url(2000),
  }),
}

const ajv = addFormats.default(new Ajv({ strict: false }))
/** Discord and Slack count UTF-16 units, ajv counts characters. */
const hasLengths = (value: unknown, max: number): boolean =>
  Object.values(value ?? {}).every((one) =>
    typeof one === 'string' ? one.length <= max : typeof one !== 'object' || hasLengths(one, max),
  )

const CHANNELS = [
  ['slack', slack, { url: 'https://hooks.slack.com/services/T000/B000/SECRET1234' }],
  ['discord', discord, { url: 'https://discord.com/api/webhooks/1/SECRET1234' }],
  ['ntfy', ntfy, { server: 'https://ntfy.sh', topic: 'alerts', token: 'tk_SECRET1234' }],
] as unknown as [keyof typeof DOCUMENTED, Format<object>, { url: string }][]

for (const [name, format, settings] of CHANNELS)
  test(`A notice to ${name} is what it documents, also with hostile names`, () => {
    const isDocumented = ajv.compile(DOCUMENTED[name])
    for (const notice of [NOTICE, HOSTILE, { ...NOTICE, text: '', tenant: null }]) {
      for (const event of ['opened', 'resolved', 'reminder', 'test'] as const) {
        const { method, headers, body } = format.requestOf(settings, { ...notice, event })
        expect([method, headers['content-type']]).toEqual(['POST', 'application/json'])
        const value = JSON.parse(body)
        expect([isDocumented(value), isDocumented.errors]).toEqual([true, null])
        expect([hasLengths(value, 4096), body.isWellFormed()]).toEqual([true, true])
      }
    }
    const said = JSON.parse(format.requestOf(settings, HOSTILE).body)
    const { title, description } = said.embeds?.[0] ?? {}
    expect(`${said.text} ${title} ${description}`.match(/(?<!\\)<[!h]/)).toBeNull()
    expect(`${said.text}`).not.toMatch(/@\w/)
    expect(`${title} ${description}`.match(/(?<!\\)(@|\[x|\*)/)).toBeNull()
    expect(format.hintOf(settings)).not.toContain('SECRET')
  })

test('A Telegram message is plain text within the limit', () => {
  expect(telegramText(NOTICE)).toBe(
    '🔴 Job Nightly report is failing\nStatus 500. It has failed 3 times.\nAcme · https://gatehouse.example.com/console/acme/jobs/1',
  )
  expect(telegramText({ ...NOTICE, event: 'resolved' })).toStartWith('🟢')
  expect(telegramText(HOSTILE).length).toBeLessThanOrEqual(4096)
  expect(telegramText(HOSTILE).isWellFormed()).toBe(true)
})

test('An HTTP template encodes each value for its place', () => {
  const settings = {
    url: 'https://sms.example/send?text={{title}}&at={{ at }}',
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'x-title': '{{title}}' },
    body: '{"message":"{{title}}: {{text}}","count":{{count}}}',
  }
  http.check?.(settings)
  const notice = { ...NOTICE, title: 'a"b\n&c\r\nx: y 💥', text: '\\' }
  const { url, method, headers, body } = http.requestOf(settings, notice)
  expect([method, url]).toEqual([
    'POST',
    'https://sms.example/send?text=a%22b%0A%26c%0D%0Ax%3A%20y%20%F0%9F%92%A5&at=2026-03-01T12%3A01%3A00.000Z',
  ])
  expect(headers['x-title']).toBe('a"b &c x: y')
  expect(JSON.parse(body)).toEqual({ message: 'a"b\n&c\r\nx: y 💥: \\', count: 3 })
  const plain = { url: settings.url, body: '{{title}} in {{tenant}}' }
  expect(http.requestOf(plain, NOTICE).body).toBe('Job Nightly report is failing in Acme')
  expect(http.requestOf({ ...plain, method: 'GET' }, NOTICE).body).toBe('')
})

test.each([
  ['settings.url', 'format', { url: 'https://{{title}}.example' }],
  ['settings.url', 'format', { url: '{{url}}' }],
  ['settings.url', 'unknown', { url: 'https://a.example/{{nothing}}' }],
  ['settings.body', 'unknown', { url: 'https://a.example', body: '{{constructor}}' }],
  [
    'settings.headers.x-a',
    'unknown',
    { url: 'https://a.example', headers: { 'x-a': '{{secret}}' } },
  ],
  [
    'settings.body',
    'format',
    { url: 'https://a.example', headers: { 'content-type': 'text/json' }, body: '{"a":{{title}}}' },
  ],
])('A template that cannot work is refused at its %s by the rule %s', (field, rule, settings) => {
  const error = (() => {
    try {
      http.check?.(settings as never)
    } catch (error) {
      return error
    }
  })()
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({ field, rule })
})
