import { expect, test } from 'bun:test'
import { MINUTE } from '../relay/support.ts'
import { answering, linesOf, startRawTarget, valuesOf } from './raw-target.ts'
import { useClockwork } from './support.ts'

const ID = 'X-Clockwork-Execution-Id'
const ATTEMPT = 'X-Clockwork-Attempt'

const { fresh } = await useClockwork()

/** The request of a job with these fields, byte for byte. */
async function requestOf(fields: object, path = '') {
  await using target = await startRawTarget(answering('ok'))
  const { createDelayed, clock } = await fresh()
  await createDelayed({ url: target.url + path, ...fields })
  await clock.advance(MINUTE)
  expect(target.requests).toHaveLength(1)
  return target.requests[0] as string
}

test('Every attempt has the id of its execution and the next number', async () => {
  const { createDelayed, executionsOf, clock, target } = await fresh()
  target.answers(500)
  const job = await createDelayed()
  await clock.advance(7 * MINUTE)
  const sent = target.requests.map(({ headers }) => [headers.get(ID), headers.get(ATTEMPT)])
  const executions: { id: string; attempt: number }[] = await executionsOf(job)
  expect(sent).toEqual(executions.map(({ id, attempt }) => [id, `${attempt}`]).reverse())
  expect(new Set(sent.map(([id]) => id)).size).toBe(3)
})

test('Headers of the job with our names are ignored, in any case', async () => {
  const names = [ATTEMPT.toLowerCase(), ID.toUpperCase(), 'x-Clockwork-Other', 'X-Own']
  const headers = Object.fromEntries(names.map((name) => [name, `given ${name}`]))
  const request = await requestOf({ headers })
  expect(request.match(/given .*/g)).toEqual(['given X-Own'])
  expect(valuesOf(request, ID)).toHaveLength(1)
  expect(valuesOf(request, ATTEMPT)).toEqual(['1'])
})

test('Headers of the connection are dropped, in any case, and 100 others are sent', async () => {
  const dropped = {
    ...{ host: 'evil.example', 'CONTENT-LENGTH': '999', 'Transfer-Encoding': 'chunked' },
    ...{ connection: 'keep-alive, X-Own', 'Keep-Alive': 'timeout=9', TE: 'trailers' },
    ...{ Trailer: 'X-Own', Upgrade: 'h2c', Expect: '100-continue', 'Proxy-Authorization': 'x' },
  }
  const request = await requestOf({ headers: { ...dropped, 'X-Own': 'kept' }, body: 'four' })
  const kept: Record<string, string[]> = {
    host: [expect.stringMatching(/^127\.0\.0\.1:\d+$/)],
    'CONTENT-LENGTH': ['4'],
    connection: ['close'],
  }
  for (const name of Object.keys(dropped)) expect(valuesOf(request, name)).toEqual(kept[name] ?? [])
  expect(valuesOf(request, 'X-Own')).toEqual(['kept'])

  const names = Array.from({ length: 100 }, (_, n) => `x-header-${n}`)
  const headers = Object.fromEntries(names.map((name) => [name, name]))
  const crowded = await requestOf({ headers })
  for (const name of names) expect(valuesOf(crowded, name)).toEqual([name])
  expect(valuesOf(crowded, ATTEMPT)).toEqual(['1'])
})

test.each([
  ['GET', []],
  ['DELETE', []],
  ['PATCH', ['0']],
])('%s is sent as given, without a body with the Content-Length %j', async (method, length) => {
  const headers = { 'x-MiXed': 'a', Authorization: 'Bearer b', 'X-Empty': '' }
  const path = '/a%20b?q=1&r=%2F#part'
  const body = '{"n": 1.0}\r\nGrüße\0🚀'
  const request = await requestOf({ method, headers, body }, path)
  const [first, ...lines] = linesOf(request)
  expect(first).toBe(`${method} /hook/a%20b?q=1&r=%2F HTTP/1.1`)
  expect(lines.filter((line) => !/^(host|x-clockwork-.*):/i.test(line)).sort()).toEqual([
    ...['Authorization: Bearer b', 'Connection: close', 'Content-Length: 24', 'X-Empty: '],
    'x-MiXed: a',
  ])
  expect(request.endsWith(`\r\n\r\n${Buffer.from(body).toString('latin1')}`)).toBe(true)

  const empty = await requestOf({ method })
  expect(valuesOf(empty, 'Content-Length')).toEqual(length)
  expect(empty.endsWith('\r\n\r\n')).toBe(true)
})
