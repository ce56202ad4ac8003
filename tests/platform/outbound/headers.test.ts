import { describe, expect, test } from 'bun:test'
import { checkHeaders, isForwardableHeader } from '../../../src/platform/outbound/index.ts'

describe('headers that belong to the connection are not passed on', () => {
  test.each([
    'Host',
    'host',
    'Content-Length',
    'TRANSFER-ENCODING',
    'Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'HTTP2-Settings',
    'Proxy-Authorization',
    'proxy-connection',
  ])('%s', (name) => expect(isForwardableHeader(name)).toBe(false))

  test.each(['Authorization', 'Content-Type', 'Accept-Encoding', 'Cookie', 'X-Host', 'Via'])(
    '%s is passed on',
    (name) => expect(isForwardableHeader(name)).toBe(true),
  )
})

describe('headers that no request can carry are refused, by name', () => {
  test.each([
    [{ 'X Space': 'a' }, 'X Space'],
    [{ 'X-A\r\nX-B': 'a' }, 'X-A\\r\\nX-B'],
    [{ 'X:': 'a' }, 'X:'],
    [{ Ä: 'a' }, 'Ä'],
    [{ '': 'a' }, 'without a name'],
    [{ 'X-Break': 'a\r\nX-Other: b' }, 'X-Break'],
    [{ 'X-Line': 'a\nb' }, 'X-Line'],
    [{ 'X-Nul': 'a\0' }, 'X-Nul'],
    [{ 'X-Bell': '\u0007' }, 'X-Bell'],
    [{ 'X-Delete': '\u007f' }, 'X-Delete'],
    [{ 'X-Emoji': '🙂' }, 'X-Emoji'],
    [{ 'X-Euro': '€' }, 'X-Euro'],
    [{ 'X-Long': 'a'.repeat(8193) }, 'X-Long'],
    [{ ['n'.repeat(257)]: 'a' }, 'longer than 256'],
  ] as [Record<string, string>, string][])('%j', (headers, named) => {
    expect(() => checkHeaders(headers)).toThrow(named)
  })

  test('headers: must have at most 100 headers, or more than 64 KB in all', () => {
    const many = (count: number, value: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, value]))
    expect(() => checkHeaders(many(101, 'a'))).toThrow('headers: must have at most 100 headers')
    expect(() => checkHeaders(many(9, 'a'.repeat(8000)))).toThrow('64 KB')
    expect(() => checkHeaders(many(100, 'a'))).not.toThrow()
  })

  test('ordinary ones pass, also with tabs, Latin-1 and no value', () => {
    const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Name': 'é\t~' }
    expect(() => checkHeaders({ ...headers, "X!#$%&'*+.^_`|~9": '' })).not.toThrow()
    expect(() => checkHeaders({})).not.toThrow()
  })
})
