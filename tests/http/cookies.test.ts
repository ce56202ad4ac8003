import { describe, expect, test } from 'bun:test'
import { cookieIn, createCookie, preferenceIn, setCookie } from '../../src/http/cookies.ts'

const bringing = (cookie?: string) =>
  new Request('http://localhost/', cookie === undefined ? {} : { headers: { cookie } })

test.each<[header: string | undefined, value: string | undefined]>([
  ['browser=abc', 'abc'],
  ['a=1; browser=abc', 'abc'],
  ['a=1;browser=abc;b=2', 'abc'],
  ['  browser = abc  ;', 'abc'],
  ['browser=a=b==', 'a=b=='],
  ['browser=', ''],
  ['browser="abc"', '"abc"'],
  ['browser=a%20b', 'a%20b'],
  ['a; ; =x; browser=abc', 'abc'],
  // The first has the longest path.
  ['browser=first; browser=second', 'first'],
  ...[undefined, '', ';', 'browser', 'Browser=abc', 'my_browser=abc', 'browser2=abc'].map(
    (header): [string | undefined, undefined] => [header, undefined],
  ),
  ...['__Host-browser=abc', 'a=browser=abc', 'a="1; b=2"'].map((header): [string, undefined] => [
    header,
    undefined,
  ]),
])('The cookie "browser" in %j is %j', (header, value) => {
  expect(cookieIn(bringing(header), 'browser')).toBe(value as string)
})

test('A cookie is no member that objects have by themselves', () => {
  expect(cookieIn(bringing('a=1'), '__proto__')).toBeUndefined()
  expect(cookieIn(bringing('__proto__=x'), '__proto__')).toBe('x')
})

test('A cookie is hidden from scripts, stays on https, and comes back as it was set', () => {
  const set = 'browser=abc; Path=/auth; HttpOnly; SameSite=Lax'
  expect(setCookie('browser', 'abc', { path: '/auth', isSecure: false })).toBe(set)
  expect(setCookie('browser', 'abc', { path: '/auth', isSecure: true })).toBe(`${set}; Secure`)
  const [pair] = setCookie('browser', 'Abc09', { path: '/', isSecure: true }).split(';')
  expect(cookieIn(bringing(pair), 'browser')).toBe('Abc09')
})

describe('A cookie of this installation', () => {
  const at = (baseUrl: string) =>
    createCookie({ name: 'browser', path: '/auth', baseUrl: () => baseUrl })

  test.each([
    ['http://example.com', 'browser=abc; Path=/auth; HttpOnly; SameSite=Lax'],
    ['http://example.com/id', 'browser=abc; Path=/id/auth; HttpOnly; SameSite=Lax'],
    ['https://example.com', '__Host-browser=abc; Path=/; HttpOnly; SameSite=Lax; Secure'],
    [
      'https://example.com/id',
      '__Secure-browser=abc; Path=/id/auth; HttpOnly; SameSite=Lax; Secure',
    ],
  ])('has at %s the name that keeps most others from setting it', (baseUrl, set) => {
    const cookie = at(baseUrl)
    expect(cookie.set('abc')).toBe(set)
    expect(cookie.in(bringing(set.split(';')[0]))).toBe('abc')
    expect(cookie.end()).toBe(`${set.replace('=abc', '=')}; Max-Age=0`)
  })

  test('is not read under the name of another scheme, unless it is only a preference', () => {
    expect(at('https://example.com').in(bringing('browser=a; __Secure-browser=b'))).toBeUndefined()
    expect(at('https://example.com/id').in(bringing('browser=a'))).toBeUndefined()
    expect(at('http://example.com').in(bringing('__Host-browser=a'))).toBeUndefined()
    expect(preferenceIn(bringing('browser=a'), 'browser')).toBe('a')
    expect(preferenceIn(bringing('browser=a; __Host-browser=b'), 'browser')).toBe('b')
  })
})
