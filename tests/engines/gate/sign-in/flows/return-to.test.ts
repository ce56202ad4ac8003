import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  checkReturnTo,
  withQuery,
} from '../../../../../src/engines/gate/sign-in/flows/return-to.ts'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import { count, plain, SETTINGS } from '../../fixture.ts'
import { newBrowser } from './browser.ts'
import { bootChecked, type Checked } from './checked.ts'
import { flowParty, PASSWORD } from './fixture.ts'

let fixture: Checked
let token: string
beforeAll(async () => {
  fixture = await bootChecked()
  token = (await fixture.register('somebody@example.com')).session_token
})
afterAll(() => fixture[Symbol.asyncDispose]())

const ask = (returnTo: string, kind = 'login', of: Pick<Checked, 'ask'> = fixture) =>
  of.ask(kind, { 'x-session-token': token, 'x-return-to': returnTo })

const allow = (urls: string[], { api }: Pick<Checked, 'api'> = fixture) =>
  api.put(`${SETTINGS}/return-urls`, { return_urls: urls })

/** Where one would be sent, or the words of the refusal. */
async function outcome(returnTo: string): Promise<string> {
  const before = count(fixture.app, 'gate_flows')
  const { status, body } = await ask(returnTo)
  if (status === 200) return body.return_to
  expect(status).toBe(400)
  expect(count(fixture.app, 'gate_flows')).toBe(before)
  return body.error
}

const BAD_URL = 'X-Return-To: must be an http or https URL without user and password'
const BAD_CHARACTERS = 'X-Return-To: must not contain spaces, control characters or backslashes'
const NOT_LISTED = 'X-Return-To: must be one of the return URLs of the tenant'

/** Refused with and without a list. */
const NEVER: [why: string, url: string, words: string][] = [
  ['nothing', '', BAD_URL],
  ['no URL', 'app.example.com/a', BAD_URL],
  ['a path', '/a', BAD_URL],
  ['without a scheme', '//app.example.com/a', BAD_URL],
  ['with one slash', 'https:/app.example.com/a', BAD_URL],
  ['without slashes', 'https:app.example.com/a', BAD_URL],
  ['with backslashes for slashes', 'https:\\\\app.example.com/a', BAD_URL],
  ['with a backslash', 'https://app.example.com\\@evil.example/', BAD_CHARACTERS],
  ['with a backslash in the path', 'https://app.example.com/a\\..\\b', BAD_CHARACTERS],
  ['script', 'javascript:alert(1)', BAD_URL],
  ['script that looks like an authority', 'javascript://app.example.com/%0aalert(1)', BAD_URL],
  ['data', 'data:text/html,hello', BAD_URL],
  ['a file', 'file:///etc/passwd', BAD_URL],
  ['an app', 'com.example.app://callback', BAD_URL],
  ['a socket', 'wss://app.example.com/a', BAD_URL],
  ['a blob', 'blob:https://app.example.com/1', BAD_URL],
  ['a source', 'view-source:https://app.example.com/a', BAD_URL],
  ['with a user', 'https://user@app.example.com/a', BAD_URL],
  ['with a password', 'https://:secret@app.example.com/a', BAD_URL],
  ['with a user that looks like a host', 'https://app.example.com:443@evil.example/a', BAD_URL],
  ['without a host', 'https://', BAD_URL],
  ['with a bad port', 'https://app.example.com:99999/a', BAD_URL],
  ['with a bad host', 'https://app.example.com%zz/a', BAD_URL],
  ['with a blank', 'https://app.example.com/a b', BAD_CHARACTERS],
  ['with a tab', 'https://app.example.com/\ta', BAD_CHARACTERS],
  ['with a tab in the scheme', 'ht\ttps://app.example.com/a', BAD_URL],
  ['two of them', 'https://app.example.com/a, https://app.example.com/b', BAD_CHARACTERS],
]

describe('without a list', () => {
  test.each([
    ['https://app.example.com/after', 'https://app.example.com/after'],
    ['https://app.example.com', 'https://app.example.com/'],
    ['https://app.example.com?a=1', 'https://app.example.com/?a=1'],
    ['http://localhost:3000/after', 'http://localhost:3000/after'],
    ['http://[::1]:3000/', 'http://[::1]:3000/'],
    ['HTTPS://APP.Example.COM:443/Path', 'https://app.example.com/Path'],
    ['https://app.example.com/a/../b', 'https://app.example.com/b'],
    ['https://app.example.com/a?next=https://evil.example/', undefined],
    ['https://app.example.com/a?b=%20c#part', undefined],
    ['https://app.example.com/a%2fb', undefined],
    ['https://xn--bcher-kva.example/', undefined],
  ])('any address of the web will do: %s', async (url, shown = url) => {
    expect(await outcome(url)).toBe(shown)
  })

  test.each(NEVER)('but not %s', async (_, url, words) => {
    expect(await outcome(url)).toBe(words)
  })

  test('and none longer than 2000 characters', async () => {
    const ofLength = (length: number) => 'https://app.example.com/'.padEnd(length, 'x')
    expect(await outcome(ofLength(2000))).toBe(ofLength(2000))
    expect(await outcome(ofLength(2001))).toBe('X-Return-To: must have at most 2000 characters')
  })

  test.each(FLOW_KINDS)('for any kind of flow: %s', async (kind) => {
    expect(await ask('javascript:alert(1)', kind)).toMatchObject(plain(400, 'X-Return-To'))
    expect(await ask('https://app.example.com/', kind)).toMatchObject({
      status: 200,
      body: { return_to: 'https://app.example.com/' },
    })
  })
})

describe('with a list', () => {
  const LIST = [
    'https://app.example.com/in',
    'https://app.example.com/folder/',
    'https://other.example.com:8443',
    'http://localhost:3000/dev',
    'https://upper.example.com/Case',
  ]
  beforeAll(() => allow(LIST))
  afterAll(() => allow([]))

  test.each([
    ['the same', 'https://app.example.com/in'],
    ['with a query', 'https://app.example.com/in?a=1'],
    ['with a part', 'https://app.example.com/in#part'],
    ['the place as a folder', 'https://app.example.com/in/'],
    ['below it', 'https://app.example.com/in/deep/er?a=1'],
    ['below a folder', 'https://app.example.com/folder/x'],
    ['a folder itself', 'https://app.example.com/folder/'],
    ['anywhere at an origin', 'https://other.example.com:8443/x/y'],
    ['by http where the list has that', 'http://localhost:3000/dev/x'],
  ])('goes %s', async (_, url) => {
    expect(await outcome(url)).toBe(url)
  })

  test.each([
    ['with its host in capitals', 'https://APP.EXAMPLE.COM/in', 'https://app.example.com/in'],
    ['with its port spelled out', 'https://app.example.com:443/in', 'https://app.example.com/in'],
    ['by way of itself', 'https://app.example.com/x/../in/a', 'https://app.example.com/in/a'],
    ['with dots in escapes', 'https://app.example.com/x/%2e%2E/in', 'https://app.example.com/in'],
  ])('goes %s', async (_, url, shown) => {
    expect(await outcome(url)).toBe(shown)
  })

  test.each([
    ['a longer name', 'https://app.example.com/inside'],
    ['a shorter one', 'https://app.example.com/i'],
    ['above it', 'https://app.example.com/'],
    ['out of it', 'https://app.example.com/in/../out'],
    ['out of it in escapes', 'https://app.example.com/in/%2e%2e/out'],
    ['out of it with an escaped slash', 'https://app.example.com/in/..%2fout'],
    ['out of it with an escaped capital slash', 'https://app.example.com/in/..%2Fout'],
    ['out of it with an escaped backslash', 'https://app.example.com/in/..%5cout'],
    ['a folder without its slash', 'https://app.example.com/folder'],
    ['its path in other letters', 'https://app.example.com/IN'],
    ['a path with capitals in small', 'https://upper.example.com/case'],
    ['another port', 'https://app.example.com:444/in'],
    ['no port where there is one', 'https://other.example.com/x'],
    ['another scheme', 'http://app.example.com/in'],
    ['https where the list has http', 'https://localhost:3000/dev'],
    ['a name of the same machine', 'http://127.0.0.1:3000/dev'],
    ['below its host', 'https://evil.app.example.com/in'],
    ['a host that begins alike', 'https://app.example.com.evil.example/in'],
    ['a host that ends alike', 'https://evilapp.example.com/in'],
    ['a host with a dot behind', 'https://app.example.com./in'],
    [
      'another host with the address in its path',
      'https://evil.example/https://app.example.com/in',
    ],
    ['another host with it in the query', 'https://evil.example/?https://app.example.com/in'],
    ['another host with it as its part', 'https://evil.example/#https://app.example.com/in'],
    ['three slashes', 'https:///evil.example/in'],
  ])('does not go to %s', async (_, url) => {
    expect(await outcome(url)).toBe(NOT_LISTED)
  })

  test.each(NEVER)('does not go to what is %s', async (_, url, words) => {
    expect(await outcome(url)).toBe(words)
  })

  test('holds for the tenant alone', async () => {
    const other = await flowParty(fixture.app)
    const { body } = await other.ask('login', { 'x-return-to': 'https://evil.example/' })
    expect(body.return_to).toBe('https://evil.example/')
  })

  test('holds for flows that are started from then on', async () => {
    const { body: flow } = await ask('https://app.example.com/in')
    await allow(['https://new.example.com/'])
    const read = await fixture.app.raw(flow.ui.action.replace(/^.*8420/, ''))
    expect(read.body.return_to).toBe('https://app.example.com/in')
    expect(await outcome('https://app.example.com/in')).toBe(NOT_LISTED)
    await allow(LIST)
  })
})

test('control characters are refused, though no header can bring most of them', () => {
  const codes = [...Array.from({ length: 0x21 }, (_, code) => code), 0x7f]
  for (const code of codes) {
    const odd = String.fromCharCode(code)
    for (const url of [
      `https://a.example/${odd}x`,
      `https://a.example/${odd}`,
      `https://a.ex${odd}`,
    ])
      expect(() => checkReturnTo(url, []), JSON.stringify(url)).toThrow('X-Return-To: must ')
    expect(() => checkReturnTo(`${odd}https://a.example/`, [])).toThrow('X-Return-To: must ')
  }
})

describe('what the browser takes along', () => {
  test('stands in the query, before a part, beside what was there', () => {
    const query = { flow: 'f 1', code: 'c&2' }
    expect(withQuery('https://a.example/x', query)).toBe('https://a.example/x?flow=f+1&code=c%262')
    expect(withQuery('https://a.example/x?y=1#code=z', query)).toBe(
      'https://a.example/x?y=1&flow=f+1&code=c%262#code=z',
    )
  })

  test('takes the place of what somebody put there under the same names', () => {
    expect(withQuery('https://a.example/?code=x&flow=y&code=z', { flow: '1', code: '2' })).toBe(
      'https://a.example/?code=2&flow=1',
    )
  })

  test('goes to where the flow was to lead, after a sign-in on a page', async () => {
    const returnTo = 'https://app.example.com/in?a=1#part'
    const flow = await fixture.start('login', { 'x-return-to': returnTo })
    const browser = newBrowser(fixture.app)
    const page = await browser.signIn(flow.ui.action, 'somebody@example.com', PASSWORD)
    expect(page.status).toBe(303)
    const location = new URL(page.location)
    expect(location.href).toStartWith(`https://app.example.com/in?a=1&flow=${flow.id}&code=`)
    expect(location.hash).toBe('#part')
    expect(location.href).not.toContain('gat_st_')
  })
})
