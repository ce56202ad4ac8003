import { expect, test } from 'bun:test'
import { h } from 'preact'
import { render } from 'preact-render-to-string'
import { Sparkline } from '../../../views/ui/charts/meter.tsx'
import { curlCommand } from '../../../views/ui/code.tsx'
import { Labelled } from '../../../views/ui/form/field.tsx'
import { Textarea } from '../../../views/ui/form/textarea.tsx'
import { BodyView, formattedJson } from '../../../views/ui/json.tsx'
import { type DiffLine, diffOf } from '../../../views/ui/line-diff.ts'
import { type ListPosition, pagerLinks, positionIn } from '../../../views/ui/pager.tsx'
import { shorten, shortenMiddle } from '../../../views/ui/text.tsx'
import { duration, relative } from '../../../views/ui/time.tsx'
import { url } from '../../../views/ui/url.ts'

const NOW = Date.UTC(2026, 0, 31)
const relativeTo = (ms: number) => relative(NOW + ms, NOW, 'UTC')

test.each([
  [relativeTo, 0, 'now'],
  [relativeTo, -12_000, '12 s ago'],
  [relativeTo, -119_000, '1 min ago'],
  [relativeTo, 3_600_000, 'in 1 h'],
  [relativeTo, -86_399_000, '23 h ago'],
  [relativeTo, -86_400_000, '2026-01-30 00:00 UTC'],
  [duration, 0, '0 ms'],
  [duration, 81.6, '82 ms'],
  [duration, 999.7, '1.00 s'],
  [duration, 1020, '1.02 s'],
  [duration, 12_340, '12.3 s'],
  [duration, 61_000, '1 min 1 s'],
  [duration, 120_000, '2 min'],
  [duration, 7_260_000, '2 h 1 min'],
  [duration, 86_400_000, '24 h'],
  [duration, 176_400_000, '2 d 1 h'],
])('A time is told in words: %p of %d ms is %j', (told, ms, words) => {
  expect(told(ms)).toBe(words)
})

test('Text is one line without marks that change its direction, and ids keep both ends', () => {
  expect(shorten('two\nlines')).toBe('two lines')
  expect(shorten('invoice\u202egpj.exe')).not.toContain('\u202e')
  expect(shortenMiddle('0192f3a1-5b7c-7e44-8f10-9d2c41b7c41b')).toBe('0192f3a1…c41b')
  expect(shortenMiddle('short')).toBe('short')
})

test('JSON is indented unless that adds half a million characters', () => {
  expect(formattedJson({ a: ['{'] })).toBe('{\n  "a": [\n    "{"\n  ]\n}')
  const items = (count: number) => formattedJson(Array(count).fill(0))
  expect(items(166_000)).toContain('\n')
  expect(items(167_000)).not.toContain('\n')
})

test('A curl command gives the shell exactly the request', () => {
  const request = { url: "https://a.example/?q='", method: 'PUT', body: { it: "isn't" } }
  const command = curlCommand(request).replace('curl', `printf '%s\n'`)
  const { stdout } = Bun.spawnSync(['sh', '-c', command])
  const sent = ['-X', 'PUT', request.url, '-d', '{"it":"isn\'t"}']
  expect(stdout.toString().split('\n').slice(0, 5)).toEqual(sent)
  expect(curlCommand({ url: 'https://a.example/?of=[1-3]' })).toStartWith('curl -g ')
  expect(curlCommand({ url: 'https://a.example/?of=1' })).toStartWith("curl 'https")
})

test('A deeply nested body takes no more room than it has characters', () => {
  const shown = (text: string) => render(h(BodyView, { title: 'Body', text })).length
  const deep = `${'['.repeat(8000)}${']'.repeat(8000)}`
  const broad = `${'['.repeat(60)}${'1,'.repeat(60_000)}1${']'.repeat(60)}`
  for (const text of [deep, broad]) expect(shown(text)).toBeLessThan(text.length * 2)
  expect(JSON.stringify(diffOf(deep, '[]')).length).toBeLessThan(25_000)
  expect(render(h(BodyView, { title: 'Body', text: '{"a":["[[[",1]}' }))).toContain('\n  ')
})

test('A label says only of an optional field that it is', () => {
  const field = { name: 'a', label: 'A', children: '' }
  const label = (isRequired?: boolean) => render(h(Labelled, { ...field, isRequired }))
  expect([label(), label(true)]).toEqual(Array(2).fill(expect.not.stringContaining('optional')))
  expect(label(false)).toContain('optional')
})

test.each(['\n  two', '\n\nthree', 'one\n'])('Code stays as it was typed: %j', (value) => {
  const html = render(h(Textarea, { name: 'body', label: 'Body', isMono: true, value }))
  const [, shown = ''] = /<textarea[^>]*>([^<]*)</.exec(html) ?? []
  // Browsers drop the first line break.
  expect(shown.replace(/^\n/, '')).toBe(value)
})

test('A sparkline has only numbers', () => {
  for (const values of [[], [5], [0, 0]])
    expect(render(h(Sparkline, { values, label: 'Runs' }))).not.toMatch(/NaN|Infinity/)
})

test('An address starts with the base path and has no empty parameters', () => {
  expect(url('', '/console/jobs')).toBe('/console/jobs')
  const query = { q: 'a b&c', state: '', page: undefined }
  expect(url('/gatehouse', '/console/jobs', query)).toBe('/gatehouse/console/jobs?q=a+b%26c')
})

const LAST = 40
const FIRST = '/list?state=failing'
const hrefOf = (position: ListPosition) => url('', '/list', { state: 'failing', ...position })

function linksOn(href: string) {
  const position = positionIn(new URL(href, 'http://localhost').searchParams)
  const at = Number(position.cursor ?? 0)
  return { at, ...pagerLinks(position, at < LAST ? `${at + 1}` : null, hrefOf) }
}

function follow(from: string, link: 'newerHref' | 'olderHref', times: number): string {
  let href = from
  for (let step = 0; step < times; step++) href = linksOn(href)[link] ?? `no ${link} at ${href}`
  return href
}

test('A list leads to its end, back page by page for twenty pages, and to the first', () => {
  expect(linksOn('/list')).toEqual({ at: 0, olderHref: `${FIRST}&cursor=1` })
  const last = follow('/list', 'olderHref', LAST)
  expect(linksOn(last).olderHref).toBeUndefined()
  const third = follow('/list', 'olderHref', 3)
  expect(linksOn(third)).toMatchObject({ at: 3, newestHref: FIRST })
  const olderHref = `${FIRST}&cursor=2&trail=1`
  expect(linksOn(follow(third, 'newerHref', 2))).toEqual({ at: 1, newerHref: FIRST, olderHref })
  expect(follow(third, 'newerHref', 3)).toBe(FIRST)
  expect(linksOn('/list?cursor=7')).toMatchObject({ at: 7, newerHref: FIRST })
  expect(last.length).toBeLessThan(120)
  const back = linksOn(follow(last, 'newerHref', 19))
  expect(back).toMatchObject({ at: LAST - 19, newestHref: FIRST })
  expect(back.newerHref).toBeUndefined()
})

const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', gone: '-', new: '+', 'left out': '~' }
const A_TO_G = 'a\nb\nc\nd\ne\nf\ng'

test.each([
  [A_TO_G, 'a\nb\nc\nd\nX\nf\ng', ['~…', ' c', ' d', '-e', '+X', ' f', ' g']],
  [A_TO_G, A_TO_G.replace('d\n', ''), ['~…', ' b', ' c', '-d', ' e', ' f', '~…']],
  [A_TO_G, `${A_TO_G}\nh`, ['~…', ' f', ' g', '+h']],
  ['a\nb\nc', 'b\nX\nc\na', ['-a', ' b', '+X', ' c', '+a']],
  ['', 'a', ['-', '+a']],
  ['a', '', ['-a', '+']],
  ['a\nb', 'a\nb', ['~…']],
  ['{"a":1}', '{ "a": 1 }', ['~…']],
  ['{"a":1}', '{"a":2}', [' {', '-  "a": 1', '+  "a": 2', ' }']],
])('%j and %j differ in %j', (before, after, lines) => {
  expect(diffOf(before, after).map(({ kind, text }) => SIGNS[kind] + text)).toEqual(lines)
})

test('A long difference is cut at 81 lines', () => {
  const lines = (prefix: string) => Array.from({ length: 20_000 }, (_, n) => prefix + n).join('\n')
  const cut = diffOf(lines('a'), lines('b'))
  expect([cut.length, cut.at(-1)?.kind]).toEqual([81, 'left out'])
})
