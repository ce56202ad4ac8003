import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { serve } from '../../src/http/serve.ts'
import { bootTestApp } from '../support/app.ts'

const JOBS = '/v1/clockwork/jobs'

describe('every answer', () => {
  test('carries a request id of its own, in the header, in bodies that have one, and in the log', async () => {
    await using app = await bootTestApp()
    const first = await app.raw('/v1/relay/nothing')
    const second = await app.raw('/v1/relay/nothing')
    await new Promise((resolve) => setImmediate(resolve))

    const id = first.headers.get('x-request-id')
    expect(id).toMatch(/^req_[\w-]{22}$/)
    expect(second.headers.get('x-request-id')).not.toBe(id)
    expect(first.body.error.request_id).toBe(id)
    expect(app.log.some((line) => line.includes(`"requestId":"${id}"`))).toBe(true)
  })

  test('carries the security headers, also when it is an error or a page', async () => {
    await using app = await bootTestApp()
    for (const path of ['/healthz', '/nothing', JOBS, '/reference']) {
      const { headers } = await app.raw(path)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    }
  })
})

describe('an error body', () => {
  test('has code, message and request id where the contract wants them, else a sentence', async () => {
    await using app = await bootTestApp()
    const coded = [
      '/v1/relay/x',
      '/v1/passepartout/x',
      '/v1/gate/tokens/x',
      '/v1/gate/authorize/x',
      '/access/v1/x',
    ]
    const plain = [
      '/v1/clockwork/x',
      '/v1/gate/identities/x/y',
      '/v1/gate/settings/x',
      '/nothing',
      '/v1/gate/tokensx',
    ]

    for (const path of coded) {
      const { status, body } = await app.raw(path)
      expect(status).toBe(404)
      expect(body).toEqual({
        error: {
          code: 'not_found',
          message: `no such route: GET ${path}`,
          request_id: expect.any(String),
        },
      })
    }
    for (const path of plain) {
      const { status, body } = await app.raw(path)
      expect(status).toBe(404)
      expect(body).toEqual({ error: `no such route: GET ${path}` })
    }
  })

  test('of a wrong method names those that are possible', async () => {
    await using app = await bootTestApp()

    const fixed = await app.raw(JOBS, { method: 'PUT' })
    expect([fixed.status, fixed.headers.get('allow')]).toEqual([405, 'GET, POST'])
    expect(fixed.body).toEqual({ error: 'PUT is not allowed here; use GET, POST' })

    const parametric = await app.raw(`${JOBS}/some-id`, { method: 'POST' })
    expect([parametric.status, parametric.headers.get('allow')]).toEqual([
      405,
      'GET, PATCH, DELETE',
    ])
  })

  test('of our own fault says nothing about it; the log does, under the request id', async () => {
    await using app = await bootTestApp()
    const { api } = await app.tenant()
    app.db.client.run('ALTER TABLE cron_jobs RENAME TO table_of_the_past')

    const { status, body, headers } = await api.get(JOBS)

    expect(status).toBe(500)
    expect(body.error).not.toContain('cron_jobs')
    const line = app.log.find((entry) => entry.includes('request failed'))
    expect(line).toContain(headers.get('x-request-id') ?? 'none')
  })

  test('of a full disk is a 503 that says so; reads go on, and writes once there is room', async () => {
    await using app = await bootTestApp()
    const { api } = await app.tenant()
    const job = {
      name: 'n',
      schedule: '* * * * *',
      url: 'https://example.com',
      body: 'x'.repeat(20_000),
    }
    expect((await api.post(JOBS, job)).status).toBe(201)
    const pages = Object.values(app.db.client.query('PRAGMA page_count').get() ?? {})[0]
    app.db.client.run(`PRAGMA max_page_count = ${pages}`)

    let refused = await api.post(JOBS, job)
    while (refused.status === 201) refused = await api.post(JOBS, job)

    expect(refused.status).toBe(503)
    expect(refused.body).toEqual({ error: 'storage: the disk is full' })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(app.log.at(-1)).toContain('"reason":"storage: the disk is full"')
    const stored = (await api.get(JOBS)).body.length
    app.db.client.run('PRAGMA max_page_count = 1000000')
    expect((await api.post(JOBS, job)).status).toBe(201)
    expect((await api.get(JOBS)).body.length).toBe(stored + 1)
  })
})

describe('over a socket', () => {
  async function listening() {
    const app = await bootTestApp()
    const { secret } = await app.tenant()
    const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
    return {
      ...app,
      url: listener.url,
      secret,
      [Symbol.asyncDispose]: async () => {
        await listener.stop()
        await app.stop()
      },
    }
  }

  /** A body without a declared length. */
  const endless = (bytes: number) =>
    new ReadableStream({
      start(controller) {
        for (let sent = 0; sent < bytes; sent += 65_536) controller.enqueue(new Uint8Array(65_536))
        controller.close()
      },
    })

  test('a body over the limit is answered readably, whether its length is declared or not', async () => {
    await using server = await listening()
    const headers = { authorization: `Bearer ${server.secret}`, 'content-type': 'application/json' }

    for (const body of ['x'.repeat(3_000_000), endless(3_000_000)]) {
      const response = await fetch(server.url + JOBS, { method: 'POST', headers, body })
      expect(response.status).toBe(413)
      expect(await response.json()).toEqual({ error: 'body: must be at most 1048576 bytes' })
    }
  })

  test('without a key the body is not even looked at', async () => {
    await using server = await listening()

    for (const body of ['{broken', 'x'.repeat(3_000_000), endless(3_000_000)]) {
      const response = await fetch(server.url + JOBS, { method: 'POST', body })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('the name it is called by may be short, long or missing', async () => {
    await using server = await listening()
    for (const host of ['x', 'pi', 'nas', 'nas:8420', 'a-name-that-is-long.home.example.org']) {
      const response = await fetch(`${server.url}/healthz`, { headers: { host } })
      expect(response.status, host).toBe(200)
    }
  })

  test('a request without a usable host is refused, wherever its path would lead', async () => {
    await using server = await listening()
    const { port } = new URL(server.url)
    const send = (head: string) =>
      new Promise<string>((resolve) => {
        let answer = ''
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(head))
        socket.on('data', (data) => {
          answer += data
        })
        socket.on('close', () => resolve(answer))
      })
    const rest = `authorization: Bearer ${server.secret}\r\nconnection: close\r\n\r\n`

    for (const host of ['', 'a b', 'a@b', 'a/b', 'a?b', 'a#b'])
      for (const path of [JOBS, `/xx${JOBS}`]) {
        const answer = await send(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${rest}`)
        expect(answer, `${host} ${path}`).toStartWith('HTTP/1.1 4')
      }
    expect(await send(`GET ${JOBS} HTTP/1.1\r\nhost: a\r\n${rest}`)).toStartWith('HTTP/1.1 200')
    expect(await send(`GET /xx${JOBS} HTTP/1.1\r\nhost: a\r\n${rest}`)).toStartWith('HTTP/1.1 404')
  })

  test('a body that breaks off is the fault of the client, and no alarm', async () => {
    await using server = await listening()
    const { port } = new URL(server.url)
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.end(
          `POST ${JOBS} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${server.secret}\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{`,
        )
      })
      socket.on('close', () => resolve())
      socket.on('data', () => {})
    })
    await new Promise((resolve) => setTimeout(resolve, 50))

    expect(server.log.join('\n')).not.toContain('"level":"error"')
  })

  test('HEAD answers as GET without a body', async () => {
    await using server = await listening()
    const response = await fetch(`${server.url}/healthz`, { method: 'HEAD' })

    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
    const whole = await (await fetch(`${server.url}/healthz`)).text()
    expect(response.headers.get('content-length')).toBe(`${whole.length}`)
  })

  test('the client address is the peer, whatever X-Forwarded-For claims', async () => {
    await using server = await listening()
    await fetch(`${server.url}/nothing`, { headers: { 'x-forwarded-for': '8.8.8.8' } })
    await new Promise((resolve) => setTimeout(resolve, 20))

    expect(server.log.join('\n')).toContain('"from":"127.0.0.1"')
    expect(server.log.join('\n')).not.toContain('8.8.8.8')
  })

  test('requests with odd targets and headers never break the server', async () => {
    await using server = await listening()
    const paths = [
      '/%',
      '/%00',
      '/%ff%fe',
      `/${'a'.repeat(5000)}`,
      '/v1/clockwork/jobs/%2e%2e/x',
      '/assets/__proto__',
      '/assets/..%2fgatehouse.css',
      '//',
      '/?a=%',
    ]
    for (const path of paths) {
      const { status } = await fetch(server.url + path, {
        headers: { authorization: 'Bearer \u00e9\u00ff' },
      })
      expect(status, path).toBeGreaterThanOrEqual(200)
      expect(status, path).toBeLessThan(500)
    }
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })
})
