import { expect, test } from 'bun:test'
import { checkHeaders, isForwardableHeader } from '../../../src/platform/outbound/index.ts'
import { answer } from './behaviors.ts'
import { get, loopback, post, reply, startTarget } from './fixture.ts'

test('Method, path, headers and body are sent as given, with what frames them', async () => {
  const target = await startTarget(answer('ok'))
  const headers = { 'x-MiXed': 'a', Authorization: 'Bearer b', 'X-Latin': 'é', 'X-Empty': '' }
  const url = `http://target.test:${target.port}/a%20b?q=1&r=%2F#part`
  await loopback().send(post(url, 'héllo', { headers }))
  expect(target.requests.join()).toBe(
    `POST /a%20b?q=1&r=%2F HTTP/1.1\r\nHost: target.test:${target.port}\r\nx-MiXed: a\r\n` +
      'Authorization: Bearer b\r\nX-Latin: é\r\nX-Empty: \r\nContent-Length: 6\r\n' +
      `Connection: close\r\n\r\n${Buffer.from('héllo').toString('latin1')}`,
  )
})

test.each([
  ['GET', null, []],
  ['POST', null, ['Content-Length: 0']],
  ['PUT', new Uint8Array([0, 255, 13, 10, 128]), ['Content-Length: 5']],
])('%s with the body %p announces %p', async (method, body, framing) => {
  const target = await startTarget(answer('ok'))
  reply(await loopback().send(get(target.url, { method, body })))
  const [line, , ...rest] = (target.requests[0] ?? '').split(/(?<=\r\n)/)
  const bytes = Buffer.from(body ?? '').toString('latin1')
  const head = [...framing, 'Connection: close', '', ''].join('\r\n')
  expect([line, rest.join('')]).toEqual([`${method} / HTTP/1.1\r\n`, `${head}${bytes}`])
})

const CONNECTION_HEADERS =
  `Host host Content-Length TRANSFER-ENCODING Connection Keep-Alive TE Trailer
  Upgrade Expect HTTP2-Settings Proxy-Authorization proxy-connection`.split(/\s+/)

test('Headers of the connection are dropped, so that no second request can be smuggled', async () => {
  for (const name of CONNECTION_HEADERS)
    expect([name, isForwardableHeader(name)]).toEqual([name, false])
  for (const name of ['Authorization', 'Content-Type', 'Accept-Encoding', 'Cookie', 'X-Host'])
    expect([name, isForwardableHeader(name)]).toEqual([name, true])
  const target = await startTarget(answer('ok'))
  const headers = Object.fromEntries(CONNECTION_HEADERS.map((name) => [name, '0']))
  const rest = { headers: { ...headers, 'X-A': 'b' } }
  reply(await loopback().send(post(target.url, 'GET / HTTP/1.1\r\n\r\n', rest)))
  expect(target.requests[0]).toBe(
    `POST / HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nX-A: b\r\n` +
      'Content-Length: 18\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\n\r\n',
  )
})

test('A configured user agent is sent unless the request has one', async () => {
  const target = await startTarget(answer('ok'))
  const { send } = loopback({ userAgent: 'gatehouse' })
  await send(get(target.url))
  await send(get(target.url, { headers: { 'user-agent': 'mine' } }))
  const agents = target.requests.map((request) => request.match(/user-agent: .*/gi))
  expect(agents).toEqual([['User-Agent: gatehouse'], ['user-agent: mine']])
})

test.each([
  [{ headers: { 'X-A': 'a\r\nX-B: b' } }, 'headers.X-A'],
  [{ method: 'GET / HTTP/1.1\r\nX: y' }, 'method'],
  [{ method: 'CONNECT' }, 'method'],
])('A request that HTTP cannot carry is refused: %j', async (rest, field) => {
  const target = await startTarget(answer('never'))
  const result = await loopback().send(get(target.url, rest))
  const message = expect.stringContaining(`${field}: `)
  expect(result).toMatchObject({ replied: false, reason: 'refused', message })
  expect(target.requests).toEqual([])
})

test('Headers that HTTP cannot carry are refused, and the error names them', () => {
  const many = (count: number, value: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, value]))
  const refused: [Record<string, string>, string][] = [
    [{ 'X-A\r\nX-B': 'a' }, 'X-A\\r\\nX-B'],
    [{ '': 'a' }, 'without a name'],
    [{ 'X-Delete': '\u007f' }, 'X-Delete'],
    [{ 'X-Euro': '€' }, 'X-Euro'],
    [{ 'X-Long': 'a'.repeat(8193) }, 'X-Long'],
    [{ ['n'.repeat(257)]: 'a' }, 'longer than 256'],
    [many(101, 'a'), 'at most 100 headers'],
    [many(9, 'a'.repeat(8000)), '64 KB'],
  ]
  for (const [headers, named] of refused) expect(() => checkHeaders(headers), named).toThrow(named)
  checkHeaders({})
  checkHeaders({ 'X-Name': 'é\t~', "X!#$%&'*+.^_`|~9": '' })
  checkHeaders({ 'X-Long': 'a'.repeat(8192), ['n'.repeat(256)]: 'a' })
  checkHeaders(many(100, 'a'))
})
