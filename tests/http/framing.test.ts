import { afterAll, beforeEach, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { serve } from '../../src/http/serve.ts'
import { createLog } from '../../src/platform/log.ts'
import { sendRaw, statusesIn } from '../support/raw-http.ts'

const log = createLog({ level: 'error', format: 'text', now: () => 0, write: () => {} })
/** What the application was asked, with the body that came along. */
const asked: string[] = []
const read = async ({ request }: { request: Request }) =>
  void asked.push(`/ ${await request.text()}`)
const app = new Elysia({ handler: { standardHostname: false } })
  .get('/next', () => void asked.push('/next'))
  .post('/', read, { parse: 'none' })
const listener = serve(app, { host: '127.0.0.1', port: 0 }, log)
afterAll(() => listener.stop())
beforeEach(() => void asked.splice(0))

/** What a second request would look like, should the bytes after the first one be read as that. */
const NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

const post = (headers: string[], body: string) =>
  sendRaw(listener.port, ['POST / HTTP/1.1', 'Host: a', ...headers, '', body + NEXT].join('\r\n'))

const CHUNKED = 'Transfer-Encoding: chunked'
const END = '0\r\n\r\n'
const CLOSED = /\r\nconnection: close\r\n/i

test.each<[what: string, headers: string[], body: string]>([
  ['a length beside chunks', ['Content-Length: 5', CHUNKED], END],
  ['two lengths', ['Content-Length: 3', 'Content-Length: 0'], 'abc'],
  ['a length twice', ['Content-Length: 3', 'Content-Length: 3'], 'abc'],
  ['a list of lengths', ['Content-Length: 3, 3'], 'abc'],
  ['a length with a sign', ['Content-Length: +3'], 'abc'],
  ['a length that is none', ['Content-Length:'], ''],
  ['a name with a blank behind it', ['Content-Length : 3'], 'abc'],
  ['chunks inside another coding', ['Transfer-Encoding: chunked, identity'], END],
  ['another coding around chunks', ['Transfer-Encoding: gzip, chunked'], END],
  ['no coding at all', ['Transfer-Encoding: identity'], ''],
  ['two codings', [CHUNKED, 'Transfer-Encoding: identity'], END],
  ['nearly the coding', ['Transfer-Encoding: xchunked'], END],
  ['a folded header', ['Transfer-Encoding:', ' chunked'], END],
  ['a line that ends without CR', ['X: y\nContent-Length: 3'], 'abc'],
  ['a CR alone', ['X: y\rContent-Length: 3'], 'abc'],
])('%s is 400, and the end of the connection', async (_, headers, body) => {
  expect(statusesIn(await post(headers, body))).toEqual([400])
  expect(asked).toEqual([])
})

test.each([
  ['a size in another notation', `0x3\r\nabc\r\n${END}`],
  ['a size that overflows', `10000000000000003\r\nabc\r\n${END}`],
  ['a chunk longer than its size', `3\r\nabcXX${END}`],
  ['lines that end without CR', '3\nabc\n0\n\n'],
])('Chunks with %s end the connection, too', async (_, body) => {
  expect(statusesIn(await post([CHUNKED], body))).toEqual([400])
  expect(asked).not.toContain('/next')
})

test('Behind chunks the connection ends with the answer, whatever follows', async () => {
  const received = await post([CHUNKED], `3\r\nabc\r\n${END}`)
  expect(statusesIn(received)).toEqual([200])
  expect(received).toMatch(CLOSED)
  expect(asked).toEqual(['/ abc'])
})

test('Announced trailers are refused before anything is done', async () => {
  const received = await post([CHUNKED, 'Trailer: X'], '3\r\nabc\r\n0\r\nX: y\r\n\r\n')
  expect(statusesIn(received)[0]).toBe(400)
  expect(received).toContain('Trailer: is not supported')
  expect(received).toMatch(/^[^{]*\r\nconnection: close\r\n/i)
  expect(asked).toEqual([])
})

test.each(['X: y\r\n\r\n', 'XX', 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n'])(
  'Other bytes behind chunks are no request, and the answer says that no other follows: %j',
  async (bytes) => {
    const received = await post([CHUNKED], `3\r\nabc\r\n0\r\n${bytes}`)
    const [first] = received.split('HTTP/1.1 400')
    if (first !== '') expect(first).toMatch(CLOSED)
    expect(statusesIn(received).at(-1)).toBe(400)
    expect(asked).not.toContain('/next')
  },
)

test('A declared length leaves the connection open for the next request', async () => {
  expect(statusesIn(await post(['Content-Length: 3'], 'abc'))).toEqual([200, 200])
  expect(asked).toEqual(['/ abc', '/next'])
})
