import { expect, test } from 'bun:test'
import { serve } from '../../../../src/http/serve.ts'
import { HOUR, type Json, MINUTE, useMonitors } from './support.ts'

const { app, fresh } = await useMonitors()
const UNKNOWN = `/ping/${'0'.repeat(43)}`

test('A ping is stored with what it says', async () => {
  const { clock, create, read, ping, pingsOf } = await fresh()
  const monitor = await create()
  await ping(monitor, '/start?rid=run-1')
  expect(await read(monitor)).toMatchObject({ started_at: new Date(clock.now()).toISOString() })
  clock.jump(1500)
  await ping(monitor, '/3?rid=run-1', { method: 'POST', body: 'disk is full' })
  const none = { exit_code: null, duration_ms: null, body: null, ip_address: null }
  expect(await pingsOf(monitor)).toEqual([
    {
      ...{ ...none, number: 2, signal: 'fail', exit_code: 3, run_id: 'run-1' },
      ...{ duration_ms: 1500, body: 'disk is full' },
      received_at: new Date(clock.now()).toISOString(),
    },
    {
      ...{ ...none, number: 1, signal: 'start', run_id: 'run-1' },
      received_at: new Date(clock.now() - 1500).toISOString(),
    },
  ])
  expect(await read(monitor)).toMatchObject({ started_at: null, last_duration_ms: 1500 })
})

test('Runs that overlap are each measured from their own start', async () => {
  const { clock, create, ping, pingsOf } = await fresh()
  const monitor = await create()
  for (const rest of ['/start?rid=a', '/start?rid=b', '?rid=a', '?rid=b', '?rid=c']) {
    await ping(monitor, rest)
    clock.jump(1000)
  }
  const durations = (await pingsOf(monitor)).map((one: Json) => one.duration_ms)
  expect(durations).toEqual([null, 2000, 2000, null, null])
})

test('The last hundred pings are kept, and changes of state for 90 days', async () => {
  const { clock, create, ping, pingsOf, storyOf } = await fresh()
  const monitor = await create()
  for (let n = 0; n < 102; n++) {
    await ping(monitor, '/log')
    clock.spend(1000)
  }
  await ping(monitor)
  const kept = await pingsOf(monitor)
  expect([kept.length, kept[0].number, kept.at(-1).number]).toEqual([100, 103, 4])
  clock.jump(90 * 24 * HOUR)
  await app.platform.retention.sweep()
  expect(storyOf(monitor)).toEqual(['up'])
  clock.jump(1000)
  await app.platform.retention.sweep()
  expect(storyOf(monitor)).toEqual([])
})

test.each<[string, BodyInit, Json]>([
  ['of any type', '{"a":', '{"a":'],
  ['that is empty', '', null],
  ['that is no text', new Uint8Array([0xff, 0x41]), '\ufffdA'],
  ['that is too long, up to 10,000 bytes', 'x'.repeat(20_000), 'x'.repeat(10_000)],
  ['without half a character', `${'x'.repeat(9999)}ü`, 'x'.repeat(9999)],
  ['over the limit of the server', 'x'.repeat(3_000_000), 'x'.repeat(10_000)],
])('A body %s is kept', async (_, body, kept) => {
  const { create, ping, pingsOf } = await fresh()
  const monitor = await create()
  const headers = { 'content-type': 'application/json', 'content-encoding': 'x' }
  expect(await ping(monitor, '', { method: 'POST', body, headers })).toEqual([200, 'OK'])
  expect((await pingsOf(monitor))[0].body).toBe(kept)
})

test.each([
  ['/256', 404],
  ['/-1', 404],
  ['/00', 200],
  ['/stop', 404],
  ['/START', 404],
  ['/start/1', 404],
  ['?rid=', 400],
  ['?rid=%00', 400],
  [`?rid=${'x'.repeat(65)}`, 400],
  ['?create=1&other', 200],
])('A ping with %s is answered with %d', async (rest, status) => {
  const { create, ping, pingsOf } = await fresh()
  const monitor = await create()
  expect((await ping(monitor, rest))[0]).toBe(status)
  expect(await pingsOf(monitor)).toHaveLength(status === 200 ? 1 : 0)
})

test('More than 60 pings a minute are refused and not stored', async () => {
  const { clock, create, ping, pingsOf } = await fresh()
  const [busy, other] = [await create(), await create()]
  for (let n = 0; n < 60; n++) expect(await ping(busy)).toEqual([200, 'OK'])
  expect((await ping(busy, '/fail'))[0]).toBe(429)
  expect((await pingsOf(busy))[0]).toMatchObject({ number: 60, signal: 'success' })
  expect(await ping(other)).toEqual([200, 'OK'])
  clock.spend(1000)
  expect(await ping(busy)).toEqual([200, 'OK'])
})

test('Clients that guess tokens are slowed down, which keeps no ping out', async () => {
  const { clock, create, ping } = await fresh()
  const monitor = await create()
  const guess = async (path = UNKNOWN) => (await app.raw(path)).status
  for (let n = 0; n < 60; n++)
    expect(await guess(n % 2 ? UNKNOWN : `/badge/${'x'.repeat(43)}.svg`)).toBe(404)
  expect([await guess(), await guess('/ping/x'), await guess('/badge/x')]).toEqual([429, 429, 429])
  expect(await ping(monitor)).toEqual([200, 'OK'])
  clock.spend(2 * MINUTE)
})

test('A token is in no log line, and neither is that of a badge', async () => {
  const { create, ping } = await fresh()
  const monitor = await create()
  await ping(monitor, '/start')
  await app.raw(new URL(monitor.badge_url).pathname)
  const tokens = [monitor.ping_url, monitor.badge_url].map((url: string) =>
    url.replace(/^.*\/|\.svg$/g, ''),
  )
  for (const token of tokens) await app.raw(`/PING/${token}`)
  const lines = app.log.join('\n')
  expect(lines).toContain('/ping/…')
  for (const token of tokens) expect(lines).not.toContain(token)
})

test('A tenant that is being deleted has no ping URLs', async () => {
  const { acme, create, ping } = await fresh()
  const monitor = await create()
  expect(await ping(monitor)).toEqual([200, 'OK'])
  app.db.client.run('update tenants set deletion_started_at = 1 where id = ?', [acme.id])
  expect((await ping(monitor))[0]).toBe(404)
  expect((await app.raw(new URL(monitor.badge_url).pathname)).status).toBe(404)
})

test('HEAD is a ping; a client that uploads more than is read gets its answer, too', async () => {
  const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
  const { create, pingsOf } = await fresh()
  const monitor = await create()
  const url = listener.url + new URL(monitor.ping_url).pathname
  const answers = [
    await fetch(url, { method: 'HEAD' }),
    await fetch(`${url}/fail`, { method: 'POST', body: 'x'.repeat(8_000_000) }),
    await fetch(`${url}/0`),
    await fetch(url, { method: 'PUT', body: 'x' }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 405])
  expect(answers[2]?.headers.get('content-type')).toStartWith('text/plain')
  expect(answers[3]?.headers.get('allow')).toBe('GET, POST')
  const pings = await pingsOf(monitor)
  expect(pings.map(({ signal }: Json) => signal)).toEqual(['success', 'fail', 'success'])
  expect(pings[0]).toMatchObject({ exit_code: 0, ip_address: '127.0.0.1' })
  await listener.stop()
})
