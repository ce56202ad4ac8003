import { expect, test } from 'bun:test'
import { type BoundedFetch, createBoundedFetch } from '../../src/platform/bounded-fetch.ts'
import { CallFailure } from '../../src/platform/transport/failure.ts'
import { until } from '../support/binary.ts'
import { createTestClock } from '../support/clock.ts'
import { freePort } from '../support/port.ts'
import { answer, type Behavior, ends, pours, writes } from './outbound/behaviors.ts'
import { createAuthority, createIdentity } from './outbound/certificates.ts'
import { startTarget, startTlsTarget } from './outbound/fixture.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const LIMIT = 1000
const clock = createTestClock('2026-03-01T12:00:00.000Z')
const bounded = createBoundedFetch({ clock, timeoutMs: 5000, maxBodyBytes: LIMIT })

async function failureOf(call: Promise<Response>): Promise<CallFailure> {
  const error = await call.then(
    ({ status }) => expect.unreachable(`answered with ${status}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(CallFailure)
  return error as CallFailure
}

type Init = Parameters<BoundedFetch>[1]

const form = new URLSearchParams({ name: 'é b' })
const FORM = 'content-type: application/x-www-form-urlencoded;charset=utf-8'
const json = { 'Content-Type': 'application/json' }
test.each<[Init, body: string, fields: string[]]>([
  [{ headers: { 'Accept-Encoding': 'gzip, br' } }, '', []],
  [{ method: 'post', body: form }, 'name=%C3%A9+b', ['content-length: 13', FORM]],
  [
    { method: 'PUT', headers: { ...json, Authorization: 'Bearer x' }, body: '"é"' },
    Buffer.from('"é"').toString('latin1'),
    ['authorization: bearer x', 'content-length: 4', 'content-type: application/json'],
  ],
])('%#: a request is sent with %j', async (init, body, fields) => {
  const target = await startTarget(answer('ok'))
  await bounded(`${target.url}/a%20b?q=1#part`, init)
  const [head = '', sent] = (target.requests[0] ?? '').split('\r\n\r\n')
  const [first, ...rest] = head.split('\r\n')
  const host = `host: ${new URL(target.url).host}`
  const framing = ['accept-encoding: identity', 'connection: close', host]
  const method = init?.method?.toUpperCase() ?? 'GET'
  expect([first, sent]).toEqual([`${method} /a%20b?q=1 HTTP/1.1`, body])
  expect(rest.map((field) => field.toLowerCase()).sort()).toEqual([...fields, ...framing].sort())
})

test('An answer has its status, headers and body, if that is not empty', async () => {
  const head = `HTTP/1.1 418 Teapot\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n`
  const { url } = await startTarget(
    writes(`${head}Content-Length: 7\r\n\r\n{"a":1}HTTP/1.1 nonsense`),
  )
  const response = await bounded(url)
  expect([response.status, await response.json()]).toEqual([418, { a: 1 }])
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  const empty = await bounded((await startTarget(answer(''))).url)
  expect([empty.body, await empty.text()]).toEqual([null, ''])
})

const results: [title: string, Behavior, number | CallFailure['reason']][] = [
  ['a body up to the limit', answer('x'.repeat(LIMIT)), LIMIT],
  ['an endless body', pours(`${OK}\r\n`, 'x'.repeat(100)).behave, 'too_large'],
  ['a redirect', writes('HTTP/1.1 308 F\r\nLocation: /\r\n\r\nx'), 'redirect'],
  ['an end in the body', ends(`${OK}Content-Length: 5\r\n\r\nok`), 'reset'],
]
test.each(results)('A call ends with its connection: %s', async (_, behave, expected) => {
  const target = await startTarget(behave)
  const result = await bounded(target.url).then(
    async (response) => (await response.bytes()).length,
    ({ reason }) => reason,
  )
  expect(result).toBe(expected)
  expect(target.requests).toHaveLength(1)
  await target.closed()
})

const stalling: [string, Behavior][] = [
  ['head', () => {}],
  ['body', writes(`${OK}Content-Length: 100\r\n\r\nhalf`)],
]
test.each(stalling)('Deadline and abort end a wait for the %s', async (_, behave) => {
  const target = await startTarget(behave)
  const caller = new AbortController()
  const [late, aborted] = [
    failureOf(bounded(target.url)),
    failureOf(bounded(target.url, { signal: caller.signal })),
  ]
  await until(() => target.requests.length === 2)
  caller.abort()
  expect(await aborted).toMatchObject({ reason: 'aborted' })
  await clock.advance(5000)
  expect(await late).toMatchObject({ reason: 'timeout' })
  await target.closed()
})

test('The message of a failure names the host and nothing that may be secret', async () => {
  const odd = await startTarget(writes('HTTP/1.1 999 of-secrets\r\nContent-Length: 0\r\n\r\n'))
  const gone = `127.0.0.1:${freePort()}`
  const failures = await Promise.all([
    failureOf(bounded(`http://${gone}/path-of-secrets?token=of-secrets`)),
    failureOf(bounded(odd.url)),
    failureOf(bounded(odd.url, { headers: { 'a b': 'of-secrets' } })),
    failureOf(bounded('nonsense of-secrets')),
    failureOf(bounded(odd.url.replace('http', 'ftp'))),
  ])
  for (const { message } of failures) expect(message).not.toContain('of-secrets')
  expect(failures).toMatchObject([
    { code: 'ECONNREFUSED', message: `${gone} cannot be reached (ECONNREFUSED)` },
    ...[
      { reason: 'protocol' },
      { reason: 'protocol' },
      { reason: 'refused' },
      { reason: 'refused' },
    ],
  ])
})

test('The certificate of a trusted authority decides before anything is sent', async () => {
  const [first, second] = [await createAuthority(), await createAuthority('Second')]
  const fetch = createBoundedFetch({ clock, ca: [first.cert, second.cert] })
  const serve = async (identity: Parameters<typeof createIdentity>[0]) =>
    await startTlsTarget(await createIdentity(identity))
  const good = await serve({ authority: second, name: 'localhost' })
  const bad = await serve({ authority: first, name: 'other.example' })
  expect(await (await fetch(`https://localhost:${good.port}/`)).text()).toBe('over tls')
  const refused = await failureOf(fetch(`https://localhost:${bad.port}/`))
  expect([refused.reason, good.seen.requests, bad.seen.requests]).toEqual(['tls', 1, 0])
})
