import { describe, expect, test } from 'bun:test'
import { answering, linesOf, startRawTarget, valuesOf } from './raw-target.ts'
import { bootFixture, HALF_MINUTE, MINUTE } from './support.ts'

const ID = 'X-Clockwork-Execution-Id'
const ATTEMPT = 'X-Clockwork-Attempt'

test('a target receives one id, that of the execution, and one attempt number', async () => {
  await using fixture = await bootFixture()
  const { createJob, createDelayed, executionsOf, clock } = fixture
  await using target = await startRawTarget(answering('ok'))
  const { url } = target

  const jobs = [await createJob({ url }), await createDelayed({ url })]
  await clock.advance(HALF_MINUTE)

  expect(target.requests).toHaveLength(2)
  for (const job of jobs) {
    const [execution] = await executionsOf(job)
    const request = target.requests.find((text) => text.includes(execution.id))
    expect(valuesOf(request, ID)).toEqual([execution.id])
    expect(valuesOf(request, ATTEMPT)).toEqual(['1'])
  }
})

test('every attempt has an id of its own and the next number', async () => {
  await using fixture = await bootFixture()
  const { createDelayed, executionsOf, clock, target } = fixture
  target.answers(() => new Response('', { status: 500 }))
  const job = await createDelayed()

  await clock.advance(10 * MINUTE)

  const sent = target.requests.map(({ headers }) => [headers.get(ID), headers.get(ATTEMPT)])
  const rows = (await executionsOf(job)).map((row: { id: string; attempt: number }) => [
    row.id,
    `${row.attempt}`,
  ])
  expect(sent).toEqual(rows.reverse())
  expect(new Set(sent.map(([id]) => id)).size).toBe(3)
})

test.each([
  'X-Clockwork-Attempt',
  'x-clockwork-attempt',
  'X-CLOCKWORK-EXECUTION-ID',
  'x-Clockwork-Other',
])('a header of the job named %s is ignored', async (name) => {
  await using fixture = await bootFixture()
  const { createJob, clock } = fixture
  await using target = await startRawTarget(answering('ok'))
  await createJob({ url: target.url, headers: { [name]: 'forged', 'X-Own': 'kept' } })

  await clock.advance(HALF_MINUTE)

  const [request] = target.requests
  expect(request).not.toContain('forged')
  expect(valuesOf(request, ID)).toHaveLength(1)
  expect(valuesOf(request, ATTEMPT)).toEqual(['1'])
  expect(valuesOf(request, 'X-Own')).toEqual(['kept'])
})

test('headers that belong to the connection are dropped, in any case', async () => {
  await using fixture = await bootFixture()
  const { createJob, clock } = fixture
  await using target = await startRawTarget(answering('ok'))
  const dropped = {
    host: 'evil.example',
    'CONTENT-LENGTH': '999',
    'Transfer-Encoding': 'chunked',
    connection: 'keep-alive, X-Own',
    'Keep-Alive': 'timeout=9',
    TE: 'trailers',
    Trailer: 'X-Own',
    Upgrade: 'h2c',
    Expect: '100-continue',
    'Proxy-Authorization': 'Basic x',
  }
  await createJob({ url: target.url, headers: { ...dropped, 'X-Own': 'kept' }, body: 'four' })

  await clock.advance(HALF_MINUTE)

  const [request] = target.requests
  expect(valuesOf(request, 'Host')).toEqual([new URL(target.url).host])
  expect(valuesOf(request, 'Content-Length')).toEqual(['4'])
  expect(valuesOf(request, 'Connection')).toEqual(['close'])
  expect(valuesOf(request, 'X-Own')).toEqual(['kept'])
  for (const name of ['Transfer-Encoding', 'Keep-Alive', 'TE', 'Trailer', 'Upgrade', 'Expect'])
    expect(valuesOf(request, name)).toEqual([])
  expect(valuesOf(request, 'Proxy-Authorization')).toEqual([])
})

describe('method, headers and body go out as given', () => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('%s with a body', async (method) => {
    await using fixture = await bootFixture()
    const { createJob, clock } = fixture
    await using target = await startRawTarget(answering('ok'))
    const url = `${target.url}/a%20b?q=1&r=%2F#part`
    const headers = { 'x-MiXed': 'a', Authorization: 'Bearer b', 'X-Empty': '' }
    await createJob({ url, method, headers, body: '{"n": 1.0}\r\n' })

    await clock.advance(HALF_MINUTE)

    const [request = ''] = target.requests
    const [first, ...lines] = linesOf(request)
    expect(first).toBe(`${method} /hook/a%20b?q=1&r=%2F HTTP/1.1`)
    expect(lines.filter((line) => !/^(host|x-clockwork-.*):/i.test(line)).sort()).toEqual([
      'Authorization: Bearer b',
      'Connection: close',
      'Content-Length: 12',
      'X-Empty: ',
      'x-MiXed: a',
    ])
    expect(request.endsWith('\r\n\r\n{"n": 1.0}\r\n')).toBe(true)
  })

  test.each([
    ['GET', []],
    ['DELETE', []],
    ['POST', ['0']],
  ])('%s without a body', async (method, length) => {
    await using fixture = await bootFixture()
    const { createJob, clock } = fixture
    await using target = await startRawTarget(answering('ok'))
    await createJob({ url: target.url, method })

    await clock.advance(HALF_MINUTE)

    expect(valuesOf(target.requests[0], 'Content-Length')).toEqual(length)
    expect(target.requests[0]?.endsWith('\r\n\r\n')).toBe(true)
  })

  test('a body of any characters, in UTF-8', async () => {
    await using fixture = await bootFixture()
    const { createDelayed, clock } = fixture
    await using target = await startRawTarget(answering('ok'))
    const body = 'Grüße\0🚀'
    await createDelayed({ url: target.url, body })

    await clock.advance(HALF_MINUTE)

    expect(target.requests[0]?.endsWith(Buffer.from(body).toString('latin1'))).toBe(true)
  })
})

test('a redirect is not followed: the run fails with its status', async () => {
  await using fixture = await bootFixture()
  const { createJob, executionsOf, clock, target } = fixture
  target.answers(({ path }) =>
    path === '/hook' ? Response.redirect(`${target.url}/next`, 307) : new Response('followed'),
  )
  const job = await createJob({ schedule: '1 12 * * *' })

  await clock.advance(10 * MINUTE)

  expect(target.requests.map(({ path }) => path)).toEqual(['/hook'])
  expect(await executionsOf(job)).toMatchObject([{ status: 'failed', response_status: 307 }])
})

test('as many headers as a job may have reach the target, beside our own', async () => {
  await using fixture = await bootFixture()
  const { createJob, clock, target } = fixture
  const headers = Object.fromEntries(
    Array.from({ length: 100 }, (_, n) => [`x-header-${n}`, `value ${n}`]),
  )
  await createJob({ headers })

  await clock.advance(MINUTE)

  expect(target.requests).toHaveLength(1)
  const received = target.requests[0]?.headers
  for (const [name, value] of Object.entries(headers)) expect(received?.get(name)).toBe(value)
  expect(received?.get('x-clockwork-attempt')).toBe('1')
})
