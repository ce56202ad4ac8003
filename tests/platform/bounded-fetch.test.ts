import { describe, expect, test } from 'bun:test'
import {
  type BoundedFetch,
  createBoundedFetch,
  FetchFailure,
} from '../../src/platform/bounded-fetch.ts'
import { createTestClock } from '../support/clock.ts'
import { startTarget } from '../support/target.ts'
import { createAuthority, createIdentity } from './outbound/certificates.ts'
import { startTlsTarget } from './outbound/support.ts'

const clock = createTestClock('2026-03-01T12:00:00.000Z')
const LIMIT = 1000
const bounded = createBoundedFetch({ clock, timeoutMs: 5000, maxBodyBytes: LIMIT })

async function failureOf(url: string, fetch: BoundedFetch = bounded): Promise<FetchFailure> {
  const error = await fetch(url).then(
    ({ status }) => expect.unreachable(`answered with ${status}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(FetchFailure)
  return error as FetchFailure
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

test('takes an answer without a body', async () => {
  await using target = startTarget(() => new Response(null, { status: 204 }))

  expect(await (await bounded(target.url)).text()).toBe('')
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
  expect(message).toBe(`${host} answers with more than is read`)
  await target.stop()

  const refused = await failureOf(`http://${host}/path-of-secrets?token=of-secrets`)
  expect(refused).toMatchObject({ reason: 'unreachable' })
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

  expect(await call(authority.cert)).toEqual([200, 200, 'unreachable', 'unreachable'])
  expect(await call('')).toEqual([200, 'unreachable', 'unreachable', 'unreachable'])
  expect(proxy.requests).toEqual([])
  expect(plain.requests).toHaveLength(2)
  expect([misnamed.seen.requests, selfSigned.seen.requests]).toEqual([0, 0])
}, 20_000)
