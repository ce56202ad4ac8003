import { afterAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { serve } from '../../src/http/serve.ts'
import { bootTestApp, useApp } from '../support/app.ts'
import { until } from '../support/binary.ts'

const JOBS = '/v1/clockwork/jobs'
const JOB = { name: 'n', schedule: '* * * * *', url: 'https://example.com' }

const app = await useApp()
const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
afterAll(() => listener.stop())
const { url } = listener

test('A response has its own request id in the header, in coded errors and in the log', async () => {
  const [first, second] = [await app.raw('/v1/relay/nothing'), await app.raw('/v1/relay/nothing')]
  const id = first.headers.get('x-request-id')
  expect(id).toMatch(/^req_[\w-]{22}$/)
  expect(second.headers.get('x-request-id')).not.toBe(id)
  expect(first.body.error.request_id).toBe(id)
  await until(() => app.log.some((line) => line.includes(`"requestId":"${id}"`)))
})

test('Pages and errors have the security headers', async () => {
  for (const path of ['/healthz', '/nothing', JOBS, '/reference']) {
    const { headers } = await app.raw(path)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  }
})

test.each([
  ['/v1/gate/tokens/x', true],
  ['/v1/gate/authorize/x', true],
  ['/v1/gate/settings/x', false],
  ['/v1/gate/tokensx', false],
  ['/nothing', false],
])('An error of %s has a code: %p', async (path, hasCode) => {
  const { status, body } = await app.raw(path)
  expect([status, body.error.code]).toEqual([404, hasCode ? 'not_found' : undefined])
})

describe('An error of the server', () => {
  test('tells the client nothing, and the log everything under the request id', async () => {
    await using broken = await bootTestApp()
    const { api } = await broken.tenant()
    broken.db.client.run('ALTER TABLE cron_jobs RENAME TO table_of_the_past')
    const { status, body, headers } = await api.get(JOBS)
    expect(status).toBe(500)
    expect(body.error).not.toContain('cron_jobs')
    const line = broken.log.find((entry) => entry.includes('request failed'))
    expect(line).toContain(headers.get('x-request-id') ?? 'none')
  })

  test('is 503 if the disk is full: reads go on, and writes once there is space', async () => {
    await using full = await bootTestApp()
    const { api } = await full.tenant()
    const job = { ...JOB, body: 'x'.repeat(20_000) }
    const pages = Object.values(full.db.client.query('PRAGMA page_count').get() ?? {})[0]
    full.db.client.run(`PRAGMA max_page_count = ${Number(pages) + 20}`)
    let refused = await api.post(JOBS, job)
    while (refused.status === 201) refused = await api.post(JOBS, job)

    expect(refused).toMatchObject({ status: 503, body: { error: 'storage: the disk is full' } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(full.log.at(-1)).toContain('"reason":"storage: the disk is full"')
    const stored = (await api.get(JOBS)).body.length
    full.db.client.run('PRAGMA max_page_count = 1000000')
    expect((await api.post(JOBS, job)).status).toBe(201)
    expect((await api.get(JOBS)).body.length).toBe(stored + 1)
  })
})

describe('Over a socket', () => {
  /** A body without a declared length. */
  const streamed = (bytes: number) => new Blob([new Uint8Array(bytes)]).stream()

  /** Sends the text as it is, and resolves with all that comes back. */
  const send = (text: string) =>
    new Promise<string>((resolve) => {
      let answer = ''
      const socket = connect(listener.port, '127.0.0.1', () => socket.end(text))
      socket.on('data', (data) => (answer += data))
      socket.on('close', () => resolve(answer))
    })

  test('a body over the limit gets a readable 413, and is not read without a key', async () => {
    const { secret } = await app.tenant()
    const type = { 'content-type': 'application/json' }
    const authorization = `Bearer ${secret}`
    for (const body of ['{broken', 'x'.repeat(1_100_000), streamed(1_100_000)]) {
      const post = (headers: Record<string, string>, body: BodyInit) =>
        fetch(url + JOBS, { method: 'POST', headers: { ...type, ...headers }, body })
      const [mine, other] = typeof body === 'string' ? [body, body] : body.tee()
      expect((await post({}, other)).status).toBe(401)
      if (body === '{broken') continue
      const response = await post({ authorization }, mine)
      expect(response.status).toBe(413)
      expect(await response.json()).toEqual({ error: 'body: must be at most 1048576 bytes' })
    }
  })

  test('any usable host name is served, and others are refused on every path', async () => {
    for (const host of ['x', 'nas', 'nas:8420', 'a-name-that-is-long.home.example.org'])
      expect((await fetch(`${url}/healthz`, { headers: { host } })).status, host).toBe(200)
    const { secret } = await app.tenant()
    const rest = `authorization: Bearer ${secret}\r\nconnection: close\r\n\r\n`
    const get = (path: string, host: string) =>
      send(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${rest}`)
    for (const host of ['', 'a b', 'a@b', 'a/b', 'a?b', 'a#b'])
      for (const path of [JOBS, `/xx${JOBS}`])
        expect(await get(path, host), `${host} ${path}`).toStartWith('HTTP/1.1 4')
    expect(await get(JOBS, 'a')).toStartWith('HTTP/1.1 200')
    expect(await get(`/xx${JOBS}`, 'a')).toStartWith('HTTP/1.1 404')
  })

  test('a body that breaks off is no error of the server', async () => {
    const before = app.log.length
    const { secret } = await app.tenant()
    const head = `POST ${JOBS} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${secret}\r\n`
    await send(`${head}content-type: application/json\r\ncontent-length: 500\r\n\r\n{`)
    await fetch(`${url}/broken-off`, { headers: { 'x-forwarded-for': '8.8.8.8' } })
    const logged = () => app.log.slice(before).join('\n')
    await until(() => logged().includes('/broken-off'))
    expect(logged()).not.toContain('"level":"error"')
    // The address of the client is that of its connection, whatever a header claims.
    expect(logged()).toContain('"from":"127.0.0.1"')
    expect(logged()).not.toContain('8.8.8.8')
  })

  test('HEAD answers like GET without a body', async () => {
    const response = await fetch(`${url}/healthz`, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
    const whole = await (await fetch(`${url}/healthz`)).text()
    expect(response.headers.get('content-length')).toBe(`${whole.length}`)
  })

  test('odd paths and headers never break the server', async () => {
    const headers = { authorization: 'Bearer \u00e9\u00ff' }
    for (const path of [
      ...['/%', '/%00', '/%ff%fe', `/${'a'.repeat(5000)}`, '/v1/clockwork/jobs/%2e%2e/x'],
      ...['/assets/__proto__', '/assets/..%2fgatehouse.css', '//', '/?a=%'],
    ])
      expect((await fetch(url + path, { headers })).status, path).toBeLessThan(500)
  })
})
