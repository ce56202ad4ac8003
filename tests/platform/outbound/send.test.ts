import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { answer, eventually, get, loopback, post, pours, reply, startTarget } from './support.ts'

/** The lines of a captured request, without the one that names the loopback port. */
const linesOf = (request = '') => request.split('\r\n').filter((line) => !/^Host: /.test(line))

describe("the job's method, headers and body are sent as they are", () => {
  test('and nothing else but what frames them', async () => {
    const target = await startTarget(answer('ok'))
    const headers = { 'x-MiXed': 'a', Authorization: 'Bearer b', 'X-Latin': 'é', 'X-Empty': '' }

    await loopback().send(
      post(`http://target.test:${target.port}/a%20b?q=1&r=%2F#part`, 'héllo', { headers }),
    )

    expect(target.requests).toEqual([
      [
        'POST /a%20b?q=1&r=%2F HTTP/1.1',
        `Host: target.test:${target.port}`,
        'x-MiXed: a',
        'Authorization: Bearer b',
        'X-Latin: é',
        'X-Empty: ',
        'Content-Length: 6',
        'Connection: close',
        '',
        Buffer.from('héllo').toString('latin1'),
      ].join('\r\n'),
    ])
  })

  test.each(['GET', 'DELETE', 'POST', 'PUT', 'PATCH'])('%s with a body', async (method) => {
    const target = await startTarget(answer('ok'))

    reply(await loopback().send(post(target.url, 'abc', { method })))

    expect(linesOf(target.requests[0])).toEqual([
      `${method} / HTTP/1.1`,
      'Content-Length: 3',
      'Connection: close',
      '',
      'abc',
    ])
  })

  test.each([
    ['GET', []],
    ['DELETE', []],
    ['POST', ['Content-Length: 0']],
    ['PUT', ['Content-Length: 0']],
    ['PATCH', ['Content-Length: 0']],
  ])('%s without a body announces %p', async (method, framing) => {
    const target = await startTarget(answer('ok'))

    reply(await loopback().send(get(target.url, { method })))

    const lines = [`${method} / HTTP/1.1`, ...framing, 'Connection: close', '', '']
    expect(linesOf(target.requests[0])).toEqual(lines)
  })

  test('bytes stay bytes', async () => {
    const target = await startTarget(answer('ok'))
    const body = new Uint8Array([0, 255, 13, 10, 128])

    reply(await loopback().send(get(target.url, { method: 'PUT', body })))

    expect(target.requests[0]?.endsWith('\r\n\r\n\0\xff\r\n\x80')).toBe(true)
  })

  test('headers that would smuggle a second request are dropped', async () => {
    const target = await startTarget(answer('ok'))
    const headers = {
      host: 'evil.example',
      'CONTENT-LENGTH': '0',
      'transfer-Encoding': 'chunked',
      Connection: 'X-Kept',
      'Keep-Alive': 'timeout=9',
      TE: 'trailers',
      Trailer: 'X-Kept',
      Upgrade: 'websocket',
      Expect: '100-continue',
      'Proxy-Authorization': 'Basic x',
      'X-Kept': 'yes',
    }

    reply(await loopback().send(post(target.url, 'GET / HTTP/1.1\r\n\r\n', { headers })))

    expect(target.requests[0]).toBe(
      `POST / HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nX-Kept: yes\r\n` +
        'Content-Length: 18\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\n\r\n',
    )
  })

  test('a User-Agent is added only where one was configured and the job has none', async () => {
    const target = await startTarget(answer('ok'))
    const outbound = loopback({ userAgent: 'gatehouse' })

    await outbound.send(get(target.url))
    await outbound.send(get(target.url, { headers: { 'user-agent': 'mine' } }))

    expect(target.requests[0]).toContain('\r\nUser-Agent: gatehouse\r\n')
    expect(target.requests[1]?.match(/user-agent: .*/gi)).toEqual(['user-agent: mine'])
  })

  test.each([
    [
      { headers: { 'X-A': 'a\r\nX-B: b' } },
      'headers.X-A: must only have characters that are allowed in a header',
    ],
    [
      { headers: { 'X A': 'a' } },
      'headers: must have names of letters, digits and hyphens, unlike "X A"',
    ],
    [{ method: 'GET / HTTP/1.1\r\nX: y' }, 'method'],
    [{ method: 'CONNECT' }, 'method: must be a valid HTTP method, not "CONNECT"'],
    [{ method: '' }, 'method: must be a valid HTTP method, not ""'],
  ])('a request that cannot be carried is refused: %j', async (rest, message) => {
    const target = await startTarget(answer('never'))

    const result = await loopback().send(get(target.url, rest))

    expect(result).toMatchObject({ replied: false, reason: 'refused' })
    expect(result.replied || result.message).toContain(message)
    expect(target.requests).toEqual([])
  })
})

describe('any status is a reply', () => {
  test.each([200, 204, 304, 404, 429, 500, 503])('%d', async (status) => {
    const target = await startTarget((socket) =>
      socket.write(`HTTP/1.1 ${status} Something\r\nContent-Length: 0\r\n\r\n`),
    )
    expect(reply(await loopback().send(get(target.url))).status).toBe(status)
  })

  test.each([301, 302, 303, 307, 308])('%d is not followed', async (status) => {
    const elsewhere = await startTarget(answer('never'))
    const target = await startTarget((socket) =>
      socket.write(
        `HTTP/1.1 ${status} Moved\r\nLocation: ${elsewhere.url}\r\nContent-Length: 0\r\n\r\n`,
      ),
    )

    const result = reply(await loopback().send(get(target.url)))

    expect(result.status).toBe(status)
    expect(result.headers).toContainEqual(['Location', elsewhere.url])
    expect([target.requests.length, elsewhere.requests.length]).toEqual([1, 0])
  })

  test('headers come in order, repeated ones too', async () => {
    const head = 'HTTP/1.1 204 No\r\nSet-Cookie: a=1\r\nX-B: é\r\nSet-Cookie: b=2\r\n\r\n'
    const target = await startTarget((socket) => socket.write(head, 'latin1'))

    const { headers } = reply(await loopback().send(get(target.url)))

    expect(headers).toEqual([
      ['Set-Cookie', 'a=1'],
      ['X-B', 'é'],
      ['Set-Cookie', 'b=2'],
    ])
  })

  test('interim answers are passed over', async () => {
    const target = await startTarget((socket) =>
      socket.write(
        'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n' +
          'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      ),
    )
    expect(reply(await loopback().send(get(target.url))).text).toBe('ok')
  })

  test.each([
    ['of each kind', ['100 Continue', '102 Processing', '103 Early Hints', '199 Whatever']],
    ['that announces a body', ['103 Early Hints\r\nContent-Length: 3']],
    ['that announces chunks', ['103 Early Hints\r\nTransfer-Encoding: chunked']],
    ['that offers an upgrade', ['100 Continue\r\nConnection: upgrade\r\nUpgrade: x']],
  ])('an interim answer %s is not the answer', async (_, interim) => {
    const final = 'HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno'
    const heads = interim.map((head) => `HTTP/1.1 ${head}\r\n\r\n`)
    const inOne = await startTarget((socket) => socket.end([...heads, final].join('')))
    const apart = await startTarget(async (socket) => {
      socket.setNoDelay(true)
      for (const part of [...heads, final]) {
        await new Promise((resolve) => socket.write(part, () => setImmediate(resolve)))
      }
    })

    for (const { url } of [inOne, apart]) {
      for (const headIsEnough of [false, true]) {
        const result = reply(await loopback().send(get(url, { headIsEnough })))
        expect(result).toMatchObject({ status: 503, text: 'no', bodyIssue: null })
      }
    }
  })

  test.each([
    ['chunked', 'Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n3\r\nay!\r\n0\r\n\r\n', 'okay!'],
    ['that ends with the connection', '\r\nokay!', 'okay!'],
  ])('a body %s is read to its end', async (_, rest, text) => {
    const target = await startTarget((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`))
    expect(reply(await loopback().send(get(target.url)))).toMatchObject({ text, truncated: false })
  })

  test('a head of 40 KB is read', async () => {
    const target = await startTarget(answer('ok', `X-Long: ${'a'.repeat(40_000)}\r\n`))
    expect(reply(await loopback().send(get(target.url))).text).toBe('ok')
  })
})

describe('a body over the limit is cut, and the connection closed', () => {
  test.each([
    [5, 'exact', false, 'exact'],
    [5, 'longer', true, 'longe'],
    [0, '', false, ''],
    [0, 'a', true, ''],
  ])('limit %d: %p', async (maxResponseBytes, text, truncated, kept) => {
    const target = await startTarget(answer(text))

    const result = reply(await loopback({ maxResponseBytes }).send(get(target.url)))

    expect(result).toMatchObject({ status: 200, text: kept, truncated })
    await eventually(() => target.open() === 0)
  })

  test('one without an end', async () => {
    const { behave, sent } = pours('HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(65_536))
    const target = await startTarget(behave)

    const result = reply(await loopback().send(get(target.url, { maxResponseBytes: 100_000 })))

    expect(result.truncated).toBe(true)
    expect(result.body.length).toBe(100_000)
    await eventually(() => target.open() === 0)
    expect(sent()).toBeLessThan(20_000_000)
  })

  test('a compressed body is kept as it came', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000))
    const head = 'Content-Encoding: gzip\r\n'
    const target = await startTarget((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${head}Content-Length: ${bomb.length}\r\n\r\n`)
      socket.write(bomb)
    })

    const result = reply(await loopback().send(get(target.url)))

    expect(result.truncated).toBe(false)
    expect(Buffer.compare(result.body, bomb)).toBe(0)
    expect(target.requests[0]?.toLowerCase()).not.toContain('accept-encoding')
  })
})

test('400 calls are in flight at once', async () => {
  let waiting: (() => void)[] = []
  const target = await startTarget((socket, request) => {
    waiting.push(() => answer(request.split('\r\n\r\n')[1] ?? '')(socket, request))
    if (waiting.length < 400) return
    for (const go of waiting) go()
    waiting = []
  })
  const outbound = loopback({ timeoutMs: 10_000 })

  const results = await Promise.all(
    Array.from({ length: 400 }, (_, i) => outbound.send(post(target.url, `call ${i}`))),
  )

  expect(results.map((result) => reply(result).text)).toEqual(
    Array.from({ length: 400 }, (_, i) => `call ${i}`),
  )
  await eventually(() => target.open() === 0)
})

test('the time is told by phase', async () => {
  const target = await startTarget((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no')
    setTimeout(() => socket.write('k'), 30)
  })

  const { timings } = reply(await loopback().send(get(`http://target.test:${target.port}/`)))

  expect(timings.dns).toBeGreaterThan(0)
  expect(timings.connect).toBeGreaterThan(0)
  expect(timings.tls).toBe(0)
  expect(timings.wait).toBeGreaterThan(0)
  expect(timings.read).toBeGreaterThan(20)
})

describe('an answer is complete with its last announced byte, whatever follows', () => {
  test.each([
    [
      'more bytes than announced',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokgarbage',
      200,
      'ok',
    ],
    ['a body after 204', 'HTTP/1.1 204 No Content\r\n\r\nsurplus', 204, ''],
    [
      'chunks after 204',
      'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      204,
      '',
    ],
    ['a body after 304', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\nabc', 304, ''],
  ])('%s', async (_, bytes, status, body) => {
    const target = await startTarget((socket) => socket.end(bytes))

    const result = reply(await loopback().send(get(target.url)))

    expect(result.status).toBe(status)
    expect(Buffer.from(result.body).toString()).toBe(body)
  })
})
