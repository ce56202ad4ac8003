import { t } from 'elysia'
import { isoTime } from '../../../platform/clock.ts'
import { invalid } from '../../../platform/errors.ts'
import type { Format, Notice } from './format.ts'
import { originOf } from './texts.ts'

/** More than any service needs. */
const MAX_BODY = 20_000

const Settings = t.Object({
  url: t.String({
    expected: 'an http or https URL',
    maxLength: 2000,
    examples: ['https://alerts.example.com/v1?message={{title}}'],
  }),
  method: t.Optional(t.UnionEnum(['POST', 'PUT', 'PATCH', 'GET'], { default: 'POST' })),
  headers: t.Optional(
    t.Record(t.String(), t.String({ expected: 'a string' }), {
      default: {},
      expected: 'an object of header names and string values',
      examples: [{ 'content-type': 'application/json' }],
    }),
  ),
  body: t.Optional(
    t.String({
      maxLength: MAX_BODY,
      expected: `up to ${MAX_BODY} characters, with placeholders such as {{title}}`,
      examples: ['{"text":"{{title}}: {{text}}"}'],
    }),
  ),
})
type Settings = typeof Settings.static

/** What a template may contain in double braces. */
const VALUES = {
  id: (notice: Notice) => notice.id,
  event: (notice: Notice) => notice.event,
  kind: (notice: Notice) => notice.kind,
  severity: (notice: Notice) => notice.severity,
  title: (notice: Notice) => notice.title,
  text: (notice: Notice) => notice.text,
  subject: (notice: Notice) => notice.subject.name,
  subject_id: (notice: Notice) => notice.subject.id,
  tenant: originOf,
  count: (notice: Notice) => String(notice.count),
  opened_at: (notice: Notice) => isoTime(notice.openedAt),
  at: (notice: Notice) => isoTime(notice.at),
  url: (notice: Notice) => notice.url,
} as const

/**
 * Any service with an HTTP API, by templates. Each value is encoded for its place: in the URL, and in a
 * JSON body inside of quotes, so that no name breaks out.
 */
export const http: Format<Settings> = {
  type: 'http',
  label: 'HTTP request',
  Settings,
  secrets: ['url', 'headers'],
  hintOf: ({ url, method = 'POST' }) => `${method} ${hostOf(url)}`,

  check(settings) {
    const { url, headers = {}, body = '' } = settings
    checkNames('settings.url', url)
    if (
      placeholdersIn(hostOf(url)).length > 0 ||
      placeholdersIn(url.split('/')[0] ?? '').length > 0
    )
      throw invalid('must have no placeholder in its host', {
        field: 'settings.url',
        rule: 'format',
      })
    for (const [name, value] of Object.entries(headers))
      checkNames(`settings.headers.${name}`, value)
    checkNames('settings.body', body)
    if (isJson(settings) && !isParsable(filled(body, SAMPLE, jsonText)))
      throw invalid('must be JSON. Put placeholders for texts between quotes', {
        field: 'settings.body',
        rule: 'format',
      })
  },

  requestOf(settings, notice) {
    const { url, method = 'POST', headers = {}, body = '' } = settings
    return {
      url: filled(url, notice, encodeURIComponent),
      method,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, filled(value, notice, headerText)]),
      ),
      body: method === 'GET' ? '' : filled(body, notice, isJson(settings) ? jsonText : asIs),
    }
  },
}

const PLACEHOLDER = /\{\{\s*(\w+)\s*\}\}/g

const filled = (template: string, notice: Notice, encode: (value: string) => string): string =>
  template.replace(PLACEHOLDER, (whole, name: string) =>
    isName(name) ? encode(VALUES[name](notice)) : whole,
  )

const isName = (name: string): name is keyof typeof VALUES => Object.hasOwn(VALUES, name)

const placeholdersIn = (template: string): string[] =>
  Array.from(template.matchAll(PLACEHOLDER), ([, name = '']) => name)

function checkNames(field: string, template: string) {
  const unknown = placeholdersIn(template).find((name) => !isName(name))
  if (unknown !== undefined)
    throw invalid(
      `has an unknown placeholder, {{${unknown}}}. Known are ${Object.keys(VALUES).join(', ')}`,
      { field, rule: 'unknown' },
    )
}

/** The host of a URL that may have placeholders behind it. */
const hostOf = (url: string): string => /^\w+:\/\/([^/?#]*)/.exec(url)?.[1] ?? ''

const isJson = ({ headers = {} }: Settings): boolean =>
  Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'content-type' && /\bjson\b/i.test(value),
  )

const isParsable = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The inside of a JSON string. */
const jsonText = (value: string): string => JSON.stringify(value).slice(1, -1)
/** Header values are Latin-1 without line ends. */
const headerText = (value: string): string => value.replace(/[^\x20-\x7e]+/g, ' ').trim()
const asIs = (value: string): string => value

const SAMPLE: Notice = {
  id: 'ntc_1',
  event: 'test',
  kind: 'job.failed',
  severity: 'warning',
  title: 'A "quoted" title',
  text: 'A text',
  subject: { id: 'job:1', name: 'Job' },
  tenant: null,
  openedAt: 0,
  at: 0,
  resolvedAt: null,
  count: 1,
  url: 'https://gatehouse.example.com/console',
}
