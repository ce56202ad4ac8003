import { describe, expect, test } from 'bun:test'
import { type BoundedFetch, createBoundedFetch } from '../../src/platform/bounded-fetch.ts'
import { CallFailure } from '../../src/platform/transport/failure.ts'
import { createTestClock } from '../support/clock.ts'
import { startTarget } from '../support/target.ts'
import { createAuthority, createIdentity } from './outbound/certificates.ts'
import {
  answer,
  type Behaviour,
  eventually,
  pours,
  startTarget as startRawTarget,
  startTlsTarget,
  writes,
} from './outbound/support.ts'

const clock = createTestClock('2026-03-01T12:00:00.000Z')
const LIMIT = 1000
const bounded = createBoundedFetch({ clock, timeoutMs: 5000, maxBodyBytes: LIMIT })

async function failureOf(url: string, fetch: BoundedFetch = bounded): Promise<CallFailure> {
  const error = await fetch(url).then(
    ({ status }) => expect.unreachable(`answered with ${status}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(CallFailure)
  return error as CallFailure
}

test('sends what it is given, and gives what comes back', async () => {
  await using target = startTarget(
    () => new Response('{"a":1}', { status: 418, headers: { 'x-kind': 'teapot' } }),
  )

  const response = await bounded(target.url, {
    method: 'POST',
    headers: { authorization: 'Bearer x' },
    body: new URLSearchParams({ code: 'a b' }),
  })

  expect(response.status).toBe(418)
  expect(response.headers.get('x-kind')).toBe('teapot')
  expect(await response.json()).toEqual({ a: 1 })
  expect(target.requests).toMatchObject([{ method: 'POST', path: '/hook', body: 'code=a+b' }])
  expect(target.requests[0]?.headers.get('authorization')).toBe('Bearer x')
})

test.each([
  [204, ''],
  [200, ''],
])('takes an answer without a body (%i)', async (status, text) => {
  await using target = startTarget(() => new Response(status === 204 ? null : '', { status }))

  const response = await bounded(target.url)

  expect(response.status).toBe(status)
  expect(response.body).toBeNull()
  expect(await response.text()).toBe(text)
})

test('a 204 has no body, whatever its head says', async () => {
  const { url } = await startRawTarget(writes('HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nok'))

  expect(await (await bounded(url)).text()).toBe('')
})

test('headers that come twice are given twice', async () => {
  const { url } = await startRawTarget(answer('ok', 'Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n'))

  expect((await bounded(url)).headers.getSetCookie()).toEqual(['a=1', 'b=2'])
})

describe('on the wire', () => {
  const sent = async (init: Parameters<BoundedFetch>[1], path = '/') => {
    const target = await startRawTarget(answer('ok'))
    await bounded(`${target.url}${path}`, init)
    const [head = '', body] = (target.requests[0] ?? '').split('\r\n\r\n')
    const [line, ...fields] = head.split('\r\n')
    const host = new URL(target.url).host
    return { line, fields: fields.map((field) => field.toLowerCase()).sort(), body, host }
  }

  test('a GET has no body and announces none', async () => {
    const { line, fields, body, host } = await sent({}, '/a%20b?q=1&r=%2F#part')

    expect(line).toBe('GET /a%20b?q=1&r=%2F HTTP/1.1')
    expect(fields).toEqual(['accept-encoding: identity', 'connection: close', `host: ${host}`])
    expect(body).toBe('')
  })

  test('a form says that it is one, in bytes', async () => {
    const form = await sent({ method: 'post', body: new URLSearchParams({ name: 'é b' }) })

    expect(form.line).toBe('POST / HTTP/1.1')
    expect(form.body).toBe('name=%C3%A9+b')
    expect(form.fields).toContain('content-length: 13')
    expect(form.fields).toContain('content-type: application/x-www-form-urlencoded;charset=utf-8')
  })

  test('a content type that is given stays, and a text is counted in bytes', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const json = await sent({ method: 'POST', headers, body: '"é"' })
    const form = await sent({ method: 'POST', headers, body: new URLSearchParams('a=b') })

    expect(json.fields).toContain('content-length: 4')
    for (const { fields } of [json, form])
      expect(fields.filter((field) => field.startsWith('content-type'))).toEqual([
        'content-type: application/json',
      ])
  })

  test('a POST without a body says so', async () => {
    expect((await sent({ method: 'POST' })).fields).toContain('content-length: 0')
  })

  test('nothing compressed is asked for, whatever is given', async () => {
    const { fields } = await sent({ headers: { 'Accept-Encoding': 'gzip, br' } })

    expect(fields.filter((field) => field.startsWith('accept-encoding'))).toEqual([
      'accept-encoding: identity',
    ])
  })
})

test('300 calls that are held do not keep another one waiting', async () => {
  const held: (() => void)[] = []
  const polls = await startRawTarget((socket) => held.push(() => answer('late')(socket, '')))
  const other = await startRawTarget(answer('at once'))

  const calls = Array.from({ length: 300 }, () => bounded(polls.url))
  await eventually(() => held.length === 300)
  expect(await (await bounded(other.url)).text()).toBe('at once')

  for (const release of held) release()
  const texts = await Promise.all(calls.map(async (call) => (await call).text()))
  expect(new Set(texts)).toEqual(new Set(['late']))
  await eventually(() => polls.open() === 0)
})

describe('no connection is left behind', () => {
  const ends: [string, Behaviour, string | number][] = [
    ['an answer', answer('ok'), 200],
    ['a body over the limit', answer('x'.repeat(LIMIT + 1)), 'too_large'],
    [
      'a redirect whose body does not end',
      writes('HTTP/1.1 302 F\r\nLocation: /\r\n\r\nx'),
      'redirect',
    ],
    ['an answer that is no HTTP', writes('220 mail.example\r\n\r\n'), 'protocol'],
    [
      'another protocol',
      writes('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      'protocol',
    ],
  ]

  test.each(ends)('after %s', async (_, behave, outcome) => {
    const target = await startRawTarget(behave)

    const came = await bounded(target.url).then(
      ({ status }) => status,
      ({ reason }) => reason,
    )

    expect(came).toBe(outcome)
    await eventually(() => target.open() === 0)
  })

  test('after an abort, and none is used twice', async () => {
    const asked = Promise.withResolvers<void>()
    const target = await startRawTarget(() => asked.resolve())
    const caller = new AbortController()

    const failure = failureOf(target.url, (url) => bounded(url, { signal: caller.signal }))
    await asked.promise
    caller.abort()

    expect(await failure).toMatchObject({ reason: 'aborted' })
    await eventually(() => target.open() === 0)
    expect(target.requests).toHaveLength(1)
  })
})

describe('a head', () => {
  const LINE = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'

  test('may come after a few interim answers', async () => {
    const target = await startRawTarget((socket, request) => {
      socket.write(LINE.repeat(3))
      answer('ok')(socket, request)
    })

    expect(await (await bounded(target.url)).text()).toBe('ok')
  })

  test('that does not come for interim answers is not waited for', async () => {
    const target = await startRawTarget(pours('', LINE.repeat(100)).behave)

    expect(await failureOf(target.url)).toMatchObject({ reason: 'protocol' })
  })

  test('may not be endless', async () => {
    const endless = pours('HTTP/1.1 200 OK\r\n', `X-More: ${'a'.repeat(1000)}\r\n`)
    const target = await startRawTarget(endless.behave)

    expect(await failureOf(target.url)).toMatchObject({ reason: 'protocol' })
  })
})

test.each([
  ['before its head', ''],
  ['in its head', 'HTTP/1.1 200 OK\r\nX-A: '],
  ['in its body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok'],
  ['between its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n'],
])('an answer that breaks off %s is none', async (_, text) => {
  const { url } = await startRawTarget((socket) => socket.end(text))

  expect(await failureOf(url)).toMatchObject({ reason: 'reset' })
})

test('an answer is whole with its last announced byte, whatever follows', async () => {
  const text = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 nonsense\r\n\r\n'
  const { url } = await startRawTarget(writes(text))

  expect(await (await bounded(url)).text()).toBe('ok')
})

test.each(['ftp', 'file', 'data', 'ws'])('%s: is not called', async (scheme) => {
  const target = await startRawTarget(answer('never'))

  expect(await failureOf(target.url.replace('http', scheme))).toMatchObject({ reason: 'refused' })
  expect(target.requests).toEqual([])
})

test.each([
  ['a header that cannot be one', 'http://127.0.0.1:1/', { headers: { 'a b': 'of-secrets' } }],
  ['a status that cannot be one', undefined, {}],
])('%s is a failure, and told without its words', async (_, given, init) => {
  const odd = await startRawTarget(writes('HTTP/1.1 999 of-secrets\r\nContent-Length: 0\r\n\r\n'))

  const failure = await failureOf(given ?? odd.url, (url) => bounded(url, init))

  expect(failure).toMatchObject({ reason: 'protocol' })
  expect(failure.message).not.toContain('of-secrets')
})

describe('a body', () => {
  test('may be as long as the limit', async () => {
    await using target = startTarget(() => new Response('x'.repeat(LIMIT)))

    expect(await (await bounded(target.url)).text()).toHaveLength(LIMIT)
  })

  test('may not be longer', async () => {
    await using target = startTarget(() => new Response('x'.repeat(LIMIT + 1)))

    expect(await failureOf(target.url)).toMatchObject({ reason: 'too_large' })
  })

  test('that never ends is left at the limit', async () => {
    const stopped = Promise.withResolvers<void>()
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: (stream) => stream.enqueue(new Uint8Array(100)),
          cancel: () => stopped.resolve(),
        }),
      )
    await using target = startTarget(endless)

    expect(await failureOf(target.url)).toMatchObject({ reason: 'too_large' })
    await stopped.promise
  })

  test('is not unpacked', async () => {
    const packed = Bun.gzipSync(Buffer.alloc(1_000_000))
    const limit = packed.length
    await using target = startTarget(
      () => new Response(packed, { headers: { 'content-encoding': 'gzip' } }),
    )
    const fetch = createBoundedFetch({ clock, maxBodyBytes: limit })

    expect(await (await fetch(target.url)).bytes()).toHaveLength(limit)
    expect(target.requests[0]?.headers.get('accept-encoding')).toBe('identity')
  })
})

describe('the deadline', () => {
  const stalling: [string, () => Response | Promise<Response>][] = [
    ['the head', () => new Promise<Response>(() => {})],
    [
      'the body',
      () => new Response(new ReadableStream({ start: (stream) => stream.enqueue('half') })),
    ],
  ]

  test.each(stalling)('is for %s too', async (_, stall) => {
    const asked = Promise.withResolvers<void>()
    await using target = startTarget(() => {
      asked.resolve()
      return stall()
    })

    const failure = failureOf(target.url)
    await asked.promise
    await clock.advance(5000)

    expect(await failure).toMatchObject({ reason: 'timeout' })
  })
})

test('the deadline is for the handshake too', async () => {
  const asked = Promise.withResolvers<void>()
  const mute = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: () => asked.resolve() },
  })

  const failure = failureOf(`https://127.0.0.1:${mute.port}/`)
  await asked.promise
  await clock.advance(5000)

  expect(await failure).toMatchObject({ reason: 'timeout' })
  mute.stop(true)
})

describe('TLS', () => {
  const NAME = 'localhost'

  test('tells the name, and takes the certificate of an authority that is given', async () => {
    const authority = await createAuthority()
    const target = await startTlsTarget(await createIdentity({ authority, name: NAME }))
    const fetch = createBoundedFetch({ clock, ca: authority.cert })

    expect(await (await fetch(`https://${NAME}:${target.port}/`)).text()).toBe('over tls')
    expect(target.seen).toEqual({ requests: 1, names: [NAME] })
  })

  test('takes one of several authorities that are given', async () => {
    const [one, two] = [await createAuthority('One'), await createAuthority('Two')]
    const target = await startTlsTarget(await createIdentity({ authority: two, name: NAME }))
    const fetch = createBoundedFetch({ clock, ca: [one.cert, two.cert] })

    expect((await fetch(`https://${NAME}:${target.port}/`)).status).toBe(200)
  })

  test.each<[string, Parameters<typeof createIdentity>[0]]>([
    ['for another name', { name: 'other.example' }],
    ['only for the address', { ip: '127.0.0.1' }],
    ['that has expired', { name: NAME, valid: [-2, -1] }],
  ])('refuses a certificate %s before anything is sent', async (_, wanted) => {
    const authority = await createAuthority()
    const target = await startTlsTarget(await createIdentity({ authority, ...wanted }))
    const fetch = createBoundedFetch({ clock, ca: authority.cert })

    const failure = await failureOf(`https://${NAME}:${target.port}/`, fetch)
    expect(failure).toMatchObject({ reason: 'tls' })
    expect(target.seen.requests).toBe(0)
  })
})

describe('a signal', () => {
  test('ends a call that waits for the head', async () => {
    const asked = Promise.withResolvers<void>()
    await using target = startTarget(() => {
      asked.resolve()
      return new Promise<Response>(() => {})
    })
    const caller = new AbortController()

    const failure = failureOf(target.url, (url) => bounded(url, { signal: caller.signal }))
    await asked.promise
    caller.abort()

    expect(await failure).toMatchObject({ reason: 'aborted' })
  })

  test('ends a call that waits for the body, at the other end too', async () => {
    const asked = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    const halfway = () => {
      asked.resolve()
      return new Response(
        new ReadableStream({
          start: (stream) => stream.enqueue('half'),
          cancel: () => left.resolve(),
        }),
      )
    }
    await using target = startTarget(halfway)
    const caller = new AbortController()

    const failure = failureOf(target.url, (url) => bounded(url, { signal: caller.signal }))
    await asked.promise
    caller.abort()

    expect(await failure).toMatchObject({ reason: 'aborted' })
    await left.promise
  })

  test('that has been given already lets nothing out', async () => {
    await using target = startTarget()
    const signal = AbortSignal.abort(new Error('a reason of its own'))

    const failure = await failureOf(target.url, (url) => bounded(url, { signal }))

    expect(failure).toMatchObject({ reason: 'aborted' })
    expect(target.requests).toEqual([])
  })

  test('given afterwards changes nothing', async () => {
    await using target = startTarget(() => new Response('whole'))
    const caller = new AbortController()

    const response = await bounded(target.url, { signal: caller.signal })
    caller.abort()

    expect(await response.text()).toBe('whole')
  })
})

test.each([301, 302, 303, 307, 308])('does not follow a redirect (%i)', async (status) => {
  await using other = startTarget()
  await using target = startTarget(() => Response.redirect(other.url, status))

  expect(await failureOf(target.url)).toMatchObject({ reason: 'redirect' })
  expect(other.requests).toEqual([])
})

test('names the host in what it says of a failure, and nothing that may be secret', async () => {
  await using target = startTarget(() => new Response('x'.repeat(LIMIT + 1)))
  const { host } = new URL(target.url)

  const { message } = await failureOf(`http://${host}/path-of-secrets?token=of-secrets`)
  expect(message).toBe(`${host} sent a response that is too large`)
  await target.stop()

  const refused = await failureOf(`http://${host}/path-of-secrets?token=of-secrets`)
  expect(refused).toMatchObject({ reason: 'connect', code: 'ECONNREFUSED' })
  expect(refused.message).toBe(`${host} cannot be reached (ECONNREFUSED)`)
  expect((await failureOf('nonsense of-secrets')).message).not.toContain('of-secrets')
})

test('the environment can neither put a proxy in between nor turn certificates off', async () => {
  const authority = await createAuthority()
  await using proxy = startTarget(() => new Response('through the proxy'))
  await using plain = startTarget()
  const trusted = await startTlsTarget(await createIdentity({ authority, ip: '127.0.0.1' }))
  const misnamed = await startTlsTarget(await createIdentity({ authority, name: 'x.example' }))
  const selfSigned = await startTlsTarget(await createIdentity({ ip: '127.0.0.1' }))
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']
  const proxies = [...names, ...names.map((name) => name.toLowerCase())]
  const env = {
    ...Object.fromEntries(proxies.map((name) => [name, proxy.url])),
    NODE_USE_ENV_PROXY: '1',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  }
  const urls = [
    plain.url,
    ...[trusted, misnamed, selfSigned].map(({ port }) => `https://127.0.0.1:${port}/`),
  ]

  const script = new URL('./bounded-fetch.script.ts', import.meta.url).pathname
  const call = async (ca: string) => {
    const child = Bun.spawn([process.execPath, script, ca, ...urls], { env, timeout: 8000 })
    return JSON.parse(await new Response(child.stdout).text())
  }

  expect(await call(authority.cert)).toEqual([200, 200, 'tls', 'tls'])
  expect(await call('')).toEqual([200, 'tls', 'tls', 'tls'])
  expect(proxy.requests).toEqual([])
  expect(plain.requests).toHaveLength(2)
  expect([misnamed.seen.requests, selfSigned.seen.requests]).toEqual([0, 0])
}, 20_000)
