import { describe, expect, test } from 'bun:test'
import {
  checkReturnTo,
  withQuery,
} from '../../../../../src/engines/gate/sign-in/flows/return-to.ts'
import type { AppError } from '../../../../../src/platform/errors.ts'

const APP = 'https://app.example.com'

/** The rule that a URL breaks, or the URL that the browser is sent to. */
function outcome(url: string, allowed: string[] = []): string {
  try {
    return checkReturnTo(url, allowed)
  } catch (error) {
    const [{ field, rule }] = (error as AppError).fieldErrors
    expect(field).toBe('X-Return-To')
    return `${rule}`
  }
}

const LIST = [
  `${APP}/in`,
  `${APP}/folder/`,
  'https://other.example.com:8443',
  'http://localhost:3000/dev',
  'https://upper.example.com/Case',
]

test.each<[string, string]>([
  [APP, `${APP}/`],
  ['http://[::1]:3000/', 'http://[::1]:3000/'],
  ['HTTPS://APP.Example.COM:443/Path', `${APP}/Path`],
  [`${APP}/a/../b`, `${APP}/b`],
  [`${APP}/a%2fb?next=https://b.example/#x`, `${APP}/a%2fb?next=https://b.example/#x`],
])('Without a list any web address is allowed: %s', (url, shown) => {
  expect(outcome(url)).toBe(shown)
})

const ODD = [...Array(0x21).keys(), 0x7f]
  .map((code) => String.fromCharCode(code))
  .flatMap((odd) => [`${APP}/${odd}x`, `${APP}/${odd}`, `${APP}${odd}`, `${odd}${APP}/`])

test.each<[string, string[]]>([
  ['format', ['', 'app.example.com/a', '/a', '//app.example.com/a', 'https:/app.example.com/a']],
  ['format', ['https:app.example.com/a', 'https:\\\\app.example.com/a', 'https://']],
  ['format', ['javascript:alert(1)', 'javascript://app.example.com/%0aalert(1)']],
  ['format', ['data:text/html,hello', 'file:///etc/passwd', 'com.example.app://callback']],
  ['format', ['wss://app.example.com/a', `blob:${APP}/1`, `view-source:${APP}/a`]],
  ['format', ['https://user@app.example.com/a', 'https://:secret@app.example.com/a']],
  ['format', [`${APP}:443@evil.example/a`, `${APP}:99999/a`, `${APP}%zz/a`]],
  ['format', ['ht\ttps://app.example.com/a']],
  ['characters', [`${APP}\\@evil.example/`, `${APP}/a\\..\\b`, `${APP}/a b`, `${APP}/\ta`]],
  ['characters', [`${APP}/a, ${APP}/b`]],
  ['too_long', [`${APP}/in/`.padEnd(2001, 'x')]],
  ['format|characters', ODD],
])('The rule %s is kept, with and without a list (%#)', (rule, urls) => {
  for (const list of [LIST, []])
    for (const url of urls) expect(rule.split('|'), url).toContain(outcome(url, list))
})

describe('With a list', () => {
  test('what is at or below an entry is allowed, up to 2000 characters', () => {
    const below = ['in', 'in?a=1#part', 'in/', 'in/deep/er?a=1', 'folder/', 'folder/x']
    const others = ['https://other.example.com:8443/x/y', 'http://localhost:3000/dev/x']
    const longest = 'in/'.padEnd(2000 - APP.length - 1, 'x')
    for (const url of [...[...below, longest].map((path) => `${APP}/${path}`), ...others])
      expect(outcome(url, LIST)).toBe(url)
    expect(outcome('https://APP.EXAMPLE.COM:443/in', LIST)).toBe(`${APP}/in`)
    expect(outcome(`${APP}/x/../in/a`, LIST)).toBe(`${APP}/in/a`)
    expect(outcome(`${APP}/x/%2e%2E/in`, LIST)).toBe(`${APP}/in`)
  })

  test.each([
    ...[`${APP}/inside`, `${APP}/i`, `${APP}/`, `${APP}/folder`, `${APP}/IN`],
    ...[`${APP}/in/../out`, `${APP}/in/%2e%2e/out`, `${APP}/in/..%2fout`, `${APP}/in/..%5Cout`],
    ...['https://upper.example.com/case', `${APP}:444/in`, 'https://other.example.com/x'],
    ...['http://app.example.com/in', 'https://localhost:3000/dev', 'http://127.0.0.1:3000/dev'],
    ...['https://evil.app.example.com/in', 'https://app.example.com.evil.example/in'],
    ...[
      'https://evilapp.example.com/in',
      'https://app.example.com./in',
      'https:///evil.example/in',
    ],
    ...['', '?', '#'].map((sign) => `https://evil.example/${sign}${APP}/in`),
  ])('all else is refused: %s', (url) => {
    expect(outcome(url, LIST)).toBe('not_allowed')
  })
})

test.each([
  ['https://a.example/x', 'https://a.example/x?flow=f+1&code=c%262'],
  [
    'https://a.example/x?y=1&b=%26x&y=2#code=z',
    'https://a.example/x?y=1&b=%26x&y=2&flow=f+1&code=c%262#code=z',
  ],
  ['https://a.example/?code=x&flow=y&code=z', 'https://a.example/?code=c%262&flow=f+1'],
])('The code is added to the query of %s', (url, expected) => {
  expect(withQuery(url, { flow: 'f 1', code: 'c&2' })).toBe(expected)
})
