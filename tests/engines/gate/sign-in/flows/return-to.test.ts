import { describe, expect, test } from 'bun:test'
import {
  checkReturnTo,
  withQuery,
} from '../../../../../src/engines/gate/sign-in/flows/return-to.ts'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import type { AppError } from '../../../../../src/platform/errors.ts'
import { count, plain, SETTINGS } from '../../fixture.ts'
import { ADA, withToken } from './acts.ts'
import { useFlows } from './fixture.ts'

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

describe('Without a list', () => {
  test.each<[string, string]>([
    [`${APP}/after`, `${APP}/after`],
    [APP, `${APP}/`],
    [`${APP}?a=1`, `${APP}/?a=1`],
    ['http://[::1]:3000/', 'http://[::1]:3000/'],
    ['HTTPS://APP.Example.COM:443/Path', `${APP}/Path`],
    [`${APP}/a/../b`, `${APP}/b`],
    [`${APP}/a%2fb?next=https://b.example/#x`, `${APP}/a%2fb?next=https://b.example/#x`],
  ])('any web address is allowed: %s', (url, shown) => {
    expect(outcome(url)).toBe(shown)
  })
})

describe.each([
  ['with', LIST],
  ['without', []],
])('%s a list', (_, list) => {
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
  ])('the rule %s refuses %j', (rule, urls) => {
    for (const url of urls) expect(outcome(url, list), url).toBe(rule)
  })

  test('at most 2000 characters are allowed', () => {
    const longest = `${APP}/in/`.padEnd(2000, 'x')
    expect(outcome(longest, list)).toBe(longest)
    expect(outcome(`${longest}x`, list)).toBe('too_long')
  })

  test('control characters are refused wherever they are', () => {
    for (const code of [...Array(0x21).keys(), 0x7f]) {
      const odd = String.fromCharCode(code)
      for (const url of [`${APP}/${odd}x`, `${APP}/${odd}`, `${APP}${odd}`, `${odd}${APP}/`])
        expect(['format', 'characters'], JSON.stringify(url)).toContain(outcome(url, list))
    }
  })
})

describe('With a list', () => {
  test('what is at or below an entry is allowed', () => {
    const below = ['in', 'in?a=1#part', 'in/', 'in/deep/er?a=1', 'folder/', 'folder/x']
    const others = ['https://other.example.com:8443/x/y', 'http://localhost:3000/dev/x']
    for (const url of [...below.map((path) => `${APP}/${path}`), ...others])
      expect(outcome(url, LIST)).toBe(url)
    expect(outcome('https://APP.EXAMPLE.COM:443/in', LIST)).toBe(`${APP}/in`)
    expect(outcome(`${APP}/x/../in/a`, LIST)).toBe(`${APP}/in/a`)
    expect(outcome(`${APP}/x/%2e%2E/in`, LIST)).toBe(`${APP}/in`)
  })

  test.each<[string, string[]]>([
    ['path', [`${APP}/inside`, `${APP}/i`, `${APP}/`, `${APP}/folder`, `${APP}/IN`]],
    ['path out of it', [`${APP}/in/../out`, `${APP}/in/%2e%2e/out`, `${APP}/in/..%2fout`]],
    ['escaped slash', [`${APP}/in/..%2Fout`, `${APP}/in/..%5cout`, `${APP}/in/..%5Cout`]],
    ['spelling', ['https://upper.example.com/case']],
    ['port', [`${APP}:444/in`, 'https://other.example.com/x']],
    ['scheme', ['http://app.example.com/in', 'https://localhost:3000/dev']],
    ['host', ['http://127.0.0.1:3000/dev', 'https://evil.app.example.com/in']],
    ['host', ['https://app.example.com.evil.example/in', 'https://evilapp.example.com/in']],
    ['host', ['https://app.example.com./in', `https://evil.example/${APP}/in`]],
    ['host', [`https://evil.example/?${APP}/in`, `https://evil.example/#${APP}/in`]],
    ['host', ['https:///evil.example/in']],
  ])('another %s is refused: %j', (_, urls) => {
    for (const url of urls) expect(outcome(url, LIST), url).toBe('not_allowed')
  })
})

test.each([
  ['https://a.example/x', 'https://a.example/x?flow=f+1&code=c%262'],
  ['https://a.example/x?y=1#code=z', 'https://a.example/x?y=1&flow=f+1&code=c%262#code=z'],
  ['https://a.example/?code=x&flow=y&code=z', 'https://a.example/?code=c%262&flow=f+1'],
])('The code is added to the query of %s', (url, expected) => {
  expect(withQuery(url, { flow: 'f 1', code: 'c&2' })).toBe(expected)
})

const { app, newTenant } = await useFlows()

test('The list holds for all kinds of flows that its tenant starts from then on', async () => {
  const acme = await newTenant()
  const headers = withToken((await acme.register(ADA)).session_token)
  const ask = (kind: string, url: string, of = acme) =>
    of.ask(kind, { ...headers, 'x-return-to': url })
  const before = await ask('login', `${APP}/in`)
  await acme.api.put(`${SETTINGS}/return-urls`, { return_urls: ['https://new.example.com/'] })

  for (const kind of FLOW_KINDS) {
    const flows = count(app, 'gate_flows')
    for (const url of [`${APP}/in`, 'javascript:alert(1)'])
      expect(await ask(kind, url)).toMatchObject(plain(400, 'X-Return-To'))
    expect(count(app, 'gate_flows')).toBe(flows)
    const body = { return_to: 'https://new.example.com/x' }
    expect(await ask(kind, body.return_to)).toMatchObject({ status: 200, body })
  }
  expect((await acme.read(before.body.ui.action)).body.return_to).toBe(`${APP}/in`)
  const elsewhere = await ask('login', 'https://evil.example/', await newTenant())
  expect(elsewhere.body.return_to).toBe('https://evil.example/')
})
