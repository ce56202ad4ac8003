import { describe, expect, test } from 'bun:test'
import { h, type VNode } from 'preact'
import { render } from 'preact-render-to-string'
import { Bars } from '../../../views/console/charts/bars.tsx'
import { Sparkline } from '../../../views/console/charts/sparkline.tsx'
import { Confirm } from '../../../views/console/confirm.tsx'
import { curlCommand } from '../../../views/console/curl-block.tsx'
import { FilterBar } from '../../../views/console/filter-bar.tsx'
import { Checkboxes } from '../../../views/console/form/choices.tsx'
import { Field } from '../../../views/console/form/field.tsx'
import { Textarea } from '../../../views/console/form/textarea.tsx'
import { BodyView, JsonView } from '../../../views/console/json-view.tsx'
import { diffOf } from '../../../views/console/pages/relay/line-diff.ts'
import { shorten, shortenMiddle, Text } from '../../../views/console/text.tsx'
import { duration, left, relative } from '../../../views/console/time.tsx'
import { url } from '../../../views/console/url.ts'
import { GALLERY, type GalleryPage } from '../../support/console-gallery.ts'
import { HOSTILE } from './gallery/fixture.tsx'

const pages = Object.entries(GALLERY) as [GalleryPage, () => VNode][]

describe('an address', () => {
  test('begins with the base path and leaves out what is empty', () => {
    expect(url('', '/console/jobs')).toBe('/console/jobs')
    expect(url('/gatehouse', '/console/jobs', { q: 'a b&c', state: '', page: undefined })).toBe(
      '/gatehouse/console/jobs?q=a+b%26c',
    )
  })
})

describe('time', () => {
  const now = Date.UTC(2026, 0, 31)

  test.each([
    [now, 'now'],
    [now - 12_000, '12 s ago'],
    [now - 119_000, '1 min ago'],
    [now + 3_600_000, 'in 1 h'],
    [now - 86_399_000, '23 h ago'],
    [now - 86_400_000, '2026-01-30 00:00 UTC'],
  ])('%d is %s', (at, words) => {
    expect(relative(at, now)).toBe(words)
  })

  test.each([
    [-1, '0 s'],
    [0, '0 s'],
    [999, '0 s'],
    [59_000, '59 s'],
    [60_000, '1 min 0 s'],
    [3_599_000, '59 min 59 s'],
    [7_200_000, '2 h 0 min'],
    [90_061_000, '1 d 1 h'],
  ])('of %d milliseconds %s are left', (milliseconds, words) => {
    expect(left(now + milliseconds, now)).toBe(words)
  })

  test.each([
    [0, '0 ms'],
    [81.6, '82 ms'],
    [999.7, '1.00 s'],
    [1020, '1.02 s'],
    [12_340, '12.3 s'],
    [61_000, '1 min 1 s'],
    [7_260_000, '2 h 1 min'],
  ])('%d milliseconds are %s', (milliseconds, words) => {
    expect(duration(milliseconds)).toBe(words)
  })
})

describe('text of others', () => {
  test('is one line, cut where its place ends, and whole in the title', () => {
    const html = render(h(Text, { text: HOSTILE.long, limit: 20 }))

    expect(html).toContain(`>${HOSTILE.long.slice(0, 20)}…</bdi>`)
    expect(html).toContain(`title="${HOSTILE.long}"`)
    expect(shorten('two\nlines')).toBe('two lines')
  })

  test('cannot turn the text around it', () => {
    expect(shorten(HOSTILE.turned)).not.toContain('\u202e')
  })

  test('is never markup', () => {
    expect(render(h(Text, { text: HOSTILE.script }))).not.toContain('<script')
    expect(render(h(JsonView, { title: 'Body', value: HOSTILE.script }))).not.toContain('<script')
  })

  test('has both its ends where it is an id', () => {
    expect(shortenMiddle('0192f3a1-5b7c-7e44-8f10-9d2c41b7c41b')).toBe('0192f3a1…c41b')
    expect(shortenMiddle('short')).toBe('short')
  })
})

test('a command reaches the shell as it is meant', () => {
  const command = curlCommand({
    url: "https://a.example/?q='",
    method: 'PUT',
    body: { it: "isn't" },
  })
  const { stdout } = Bun.spawnSync(['sh', '-c', command.replace('curl', `printf '%s\n'`)])

  expect(stdout.toString().split('\n').slice(0, 5)).toEqual([
    '-X',
    'PUT',
    "https://a.example/?q='",
    '-d',
    '{"it":"isn\'t"}',
  ])
})

test('a body that is nested deep is no longer on its page than it came', () => {
  const shown = (text: string) => render(h(BodyView, { title: 'Body', text })).length
  const deep = `${'['.repeat(8000)}${']'.repeat(8000)}`
  const broad = `${'['.repeat(60)}${'1,'.repeat(60_000)}1${']'.repeat(60)}`
  expect(shown(deep)).toBeLessThan(deep.length * 2)
  expect(shown(broad)).toBeLessThan(broad.length * 2)
  expect(
    diffOf(deep, '[]')
      .map(({ text }) => text)
      .join('').length,
  ).toBeLessThan(20_000)
  expect(render(h(BodyView, { title: 'Body', text: '{"a":["[[[",1]}' }))).toContain('\n  ')
})

test('a command calls the one address that it names', () => {
  expect(curlCommand({ url: 'https://a.example/?of=[1-3]' })).toStartWith('curl -g ')
  expect(curlCommand({ url: 'https://a.example/?of=1' })).toStartWith("curl 'https")
})

test('a field is tied to its label, its help and what is wrong with it', () => {
  const html = render(
    h(Field, { name: 'url', label: 'Address', value: 'x"y', error: 'No.', help: 'Yes.' }),
  )

  expect(html).toContain('for="field-url"')
  expect(html).toContain('aria-describedby="field-url-error field-url-help"')
  expect(html).toContain('aria-invalid="true"')
  expect(html).toContain('value="x&quot;y"')
})

test('boxes of a group are one list, and what was ticked stays so', () => {
  const options = [
    { value: 'read', label: 'Read' },
    { value: 'send', label: 'Send' },
  ]
  const html = render(h(Checkboxes, { name: 'scopes', label: 'Scopes', values: ['send'], options }))

  expect(html.match(/name="scopes\[\]"/g)).toHaveLength(2)
  expect(html).toMatch(/value="send" checked/)
  expect(html).not.toMatch(/value="read" checked/)
})

test.each(['\n  two', '\n\nthree', 'one\n'])('code comes back as it was typed: %j', (value) => {
  const html = render(h(Textarea, { name: 'body', label: 'Body', isMono: true, value }))
  const [, shown = ''] = /<textarea[^>]*>([^<]*)</.exec(html) ?? []

  // As browsers read it: they drop the first line break.
  expect(shown.replace(/^\n/, '')).toBe(value)
  expect(html).toContain('spellcheck="false"')
})

test('a button beside a row says to who hears it what it is about', () => {
  const html = render(
    h(Confirm, {
      id: 'revoke',
      verb: 'Revoke',
      of: 'Acme CI',
      question: 'Revoke it?',
      consequence: 'It ends.',
      action: '/revoke',
      isSmall: true,
    }),
  )

  expect(html).toContain(
    '<summary class="button danger small">Revoke<span class="unseen"> Acme CI</span></summary>',
  )
})

test.each([[[]], [[5]], [[0, 0]]])('a line of %p is drawn', (values) => {
  expect(render(h(Sparkline, { values, label: 'Runs' }))).not.toMatch(/NaN|Infinity/)
})

test('a filter that is wrong is kept as it was typed, and says why', () => {
  const html = render(
    h(FilterBar, {
      action: '/audit',
      inputs: [{ name: 'since', label: 'Since', value: '"yesterday', error: 'Expected a time.' }],
    }),
  )

  expect(html).toContain('value="&quot;yesterday"')
  expect(html).toContain('aria-describedby="field-since-error"')
  expect(html).toContain('id="field-since-error"')
})

test('bars say in words and as a table what they show', () => {
  const bars = [
    { label: '1 Nov', values: [2, 3] },
    { label: '2 Nov', values: [4, 0] },
  ]
  const html = render(h(Bars, { title: 'Requests', series: ['Gate', 'Relay'], bars }))

  expect(html).toContain('aria-label="Requests, 1 Nov to 2 Nov: Gate 6, Relay 3 in total"')
  expect(html).toContain('<th scope="row">2 Nov</th><td class="right">4</td>')
})

describe.each(pages)('the page %s', (_name, page) => {
  const html = render(page())

  test('has nothing inline that the policy would refuse', () => {
    expect(html).not.toMatch(/<[^>]*\s(style|on\w+)="/)
    expect(html.replaceAll(/<script src="[^"]+" defer><\/script>/g, '')).not.toMatch(
      /<(script|style)/,
    )
  })

  test('has no id twice', () => {
    const ids = [...html.matchAll(/<[^>]*\sid="([^"]*)"/g)].map(([, id]) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })
})
