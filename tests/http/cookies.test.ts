import { describe, expect, test } from 'bun:test'
import { cookieIn, setCookie } from '../../src/http/cookies.ts'

const bringing = (cookie?: string) =>
  new Request('http://localhost/', cookie === undefined ? {} : { headers: { cookie } })

describe('a cookie', () => {
  test.each([
    ['browser=abc', 'abc'],
    ['a=1; browser=abc', 'abc'],
    ['browser=abc; a=1', 'abc'],
    ['a=1;browser=abc;b=2', 'abc'],
    ['  browser = abc  ;', 'abc'],
    ['browser=a=b==', 'a=b=='],
    ['browser=', ''],
    ['browser="abc"', '"abc"'],
    ['browser=a%20b', 'a%20b'],
    ['a; ; =x; browser=abc', 'abc'],
  ])('is found by its name: %s', (header, value) => {
    expect(cookieIn(bringing(header), 'browser')).toBe(value)
  })

  test.each([
    [undefined],
    [''],
    [';'],
    ['browser'],
    ['Browser=abc'],
    ['my_browser=abc'],
    ['browser2=abc'],
    ['__Host-browser=abc'],
    ['a=browser=abc'],
    ['a="1; b=2"'],
  ])('is not there under another: %s', (header) => {
    expect(cookieIn(bringing(header), 'browser')).toBeUndefined()
  })

  test('counts for the first of several, which is the one of the longest path', () => {
    expect(cookieIn(bringing('browser=first; browser=second'), 'browser')).toBe('first')
  })

  test('is no member that objects have by themselves', () => {
    expect(cookieIn(bringing('a=1'), '__proto__')).toBeUndefined()
    expect(cookieIn(bringing('__proto__=x'), '__proto__')).toBe('x')
  })
})

describe('a cookie that is set', () => {
  test('is hidden from scripts, and sent along from elsewhere by links alone', () => {
    expect(setCookie('browser', 'abc', { path: '/auth', isSecure: false })).toBe(
      'browser=abc; Path=/auth; HttpOnly; SameSite=Lax',
    )
  })

  test('goes over https alone where that is in use', () => {
    expect(setCookie('browser', 'abc', { path: '/auth', isSecure: true })).toBe(
      'browser=abc; Path=/auth; HttpOnly; SameSite=Lax; Secure',
    )
  })

  test('comes back as it was set', () => {
    const [pair] = setCookie('browser', 'Abc09', { path: '/', isSecure: true }).split(';')
    expect(cookieIn(bringing(pair), 'browser')).toBe('Abc09')
  })
})
