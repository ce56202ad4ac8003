import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compile } from '../scripts/build.ts'
import { BINARY, command, compileBinary, startServer, until } from './support/binary.ts'
import { temporaryFolder } from './support/folder.ts'
import { startMailServer } from './support/mail-server.ts'
import { startTarget } from './support/target.ts'

beforeAll(compileBinary, 120_000)

const ALLOW_LOOPBACK = ['--outbound-allow', '127.0.0.1']

/** The walk of the README, from nothing to two runs that arrived. */
describe('the executable, in a folder of its own, with an empty environment and no file', () => {
  test('prints how to begin, takes a tenant and a key, and fires a cron job and a delayed job', async () => {
    using folder = temporaryFolder()
    await using target = startTarget(() => new Response('thanks', { status: 202 }))
    await using server = await startServer({ cwd: folder.path, args: ALLOW_LOOPBACK })
    const cli = (...args: string[]) => command({ cwd: folder.path, args: [...args, '--json'] })

    await until(() => server.err().includes(`${BINARY} tenant create --name Acme`), server.err)
    expect(server.err()).toContain(`curl ${server.url}/v1/clockwork/jobs`)

    const tenant = (await cli('tenant', 'create', '--name', 'Acme')).json()
    expect(tenant).toEqual({
      id: expect.any(String),
      name: 'Acme',
      plan: 'unlimited',
      status: 'active',
    })
    const key = (await cli('key', 'create', '--tenant', tenant.id, '--engine', 'clockwork')).json()
    expect(key).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^svc_clockwork_[0-9A-Za-z]{43}$/),
      engine: 'clockwork',
      environment: null,
      scopes: ['clockwork'],
    })

    const api = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${server.url}/v1/clockwork${path}`, {
        method,
        headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      })
      // biome-ignore lint/suspicious/noExplicitAny: answers of several routes
      return { status: response.status, body: (await response.json()) as any }
    }
    const cron = await api('POST', '/jobs', {
      name: 'hello',
      schedule: '* * * * *',
      url: `${target.url}/cron`,
      headers: { 'X-Shop': 'books' },
      body: '{"n":1}',
    })
    const delayed = await api('POST', '/delayed', {
      name: 'once',
      run_at: new Date(Date.now() + 100).toISOString(),
      url: `${target.url}/once`,
      method: 'PUT',
    })
    expect([cron.status, delayed.status]).toEqual([201, 201])

    await until(() => target.requests.length >= 2, server.out, 70_000)

    const executions = async (path: string) => (await api('GET', `${path}/executions`)).body
    const finished = async () =>
      (await executions(`/jobs/${cron.body.id}`))[0]?.status === 'success' &&
      (await executions(`/delayed/${delayed.body.id}`))[0]?.status === 'success'
    await until(finished)
    const [cronRun] = await executions(`/jobs/${cron.body.id}`)
    const [onceRun] = await executions(`/delayed/${delayed.body.id}`)
    const received = (path: string) =>
      target.requests.find((request) => request.path.endsWith(path))
    expect(cronRun).toMatchObject({
      response_status: 202,
      response_body: 'thanks',
      attempt: 1,
      error_message: null,
    })
    expect(received('/cron')?.method).toBe('POST')
    expect(received('/cron')?.body).toBe('{"n":1}')
    expect(received('/cron')?.headers.get('x-shop')).toBe('books')
    expect(received('/cron')?.headers.get('x-clockwork-execution-id')).toBe(cronRun.id)
    expect(received('/cron')?.headers.get('x-clockwork-attempt')).toBe('1')
    expect(received('/once')?.method).toBe('PUT')
    expect(received('/once')?.headers.get('x-clockwork-execution-id')).toBe(onceRun.id)

    expect((await cli('healthcheck', '--server-port', new URL(server.url).port)).code).toBe(0)
    expect(await server.terminate()).toBe(0)
    expect((await cli('healthcheck', '--server-port', new URL(server.url).port)).code).toBe(1)
    expect((await cli('doctor')).json().ok).toBe(true)
  }, 300_000)

  test('keeps people, tells a webhook, hands out tokens and decides, by policies of ones own too', async () => {
    using folder = temporaryFolder()
    await using target = startTarget()
    await using smtp = await startMailServer()
    const args = [...ALLOW_LOOPBACK, '--mail-from', 'Gatehouse <gatehouse@example.org>']
    const env = { GATEHOUSE_MAIL_SMTP_URL: smtp.url }
    await using server = await startServer({ cwd: folder.path, args, env })
    const cli = (...args: string[]) => command({ cwd: folder.path, args: [...args, '--json'] })
    const tenant = (await cli('tenant', 'create', '--name', 'Acme')).json()
    const { key } = (await cli('key', 'create', '--tenant', tenant.id, '--engine', 'gate')).json()
    const api = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${server.url}/v1/gate${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      })
      // biome-ignore lint/suspicious/noExplicitAny: answers of several routes
      return { status: response.status, body: (await response.json()) as any }
    }

    const webhook = await api('POST', '/settings/webhooks', { url: target.url })
    const person = await api('POST', '/identities', {
      schema_id: 'user',
      traits: { email: 'ada@example.com' },
      credentials: { password: { config: { password: 'correct horse' } } },
    })
    expect([webhook.status, person.status]).toEqual([201, 201])
    await until(() => target.requests.length === 1, server.out)
    expect(JSON.parse(target.requests[0]?.body ?? '')).toMatchObject({
      event_type: 'identity.created',
      tenant_id: tenant.id,
      data: { identity_id: person.body.id, payload: { email: 'ada@example.com' } },
    })

    const { id: subject } = person.body
    const token = await api('POST', '/tokens', { api_key: key, subject })
    const { access_token } = token.body
    expect((await api('POST', '/tokens/introspect', { access_token })).body).toMatchObject({
      active: true,
      subject,
    })

    const question = { subject, action: 'invoices.pay', resource: 'invoice:7' }
    expect((await api('POST', '/authorize', question)).body.allowed).toBe(false)
    const policies = '@id("payers") permit (principal is Identity, action, resource is Invoice);'
    expect((await api('PUT', '/settings/policies', { policies })).status).toBe(200)
    expect((await api('POST', '/authorize', question)).body).toMatchObject({
      allowed: true,
      reason: 'permitted by policy "payers"',
    })

    expect((await api('POST', `/identities/${subject}/resend-verification`)).status).toBe(202)
    await until(() => smtp.received.length === 1, server.out)
    expect(smtp.received[0]?.to).toEqual(['ada@example.com'])
  }, 300_000)

  test('keeps its data readable by its owner alone', async () => {
    using folder = temporaryFolder()
    await command({ cwd: folder.path, args: ['tenant', 'create', '--name', 'Acme'] })

    expect(statSync(join(folder.path, 'data')).mode & 0o777).toBe(0o700)
    for (const file of readdirSync(join(folder.path, 'data')))
      expect(statSync(join(folder.path, 'data', file)).mode & 0o077).toBe(0)
  })

  test('is not changed by a .env, bunfig, package or tsconfig file in that folder', async () => {
    using folder = temporaryFolder()
    await Bun.write(join(folder.path, '.env'), 'GATEHOUSE_SERVER_PORT=notaport\n')
    await Bun.write(join(folder.path, 'bunfig.toml'), 'preload = ["./evil.ts"]\n')
    await Bun.write(join(folder.path, 'evil.ts'), 'process.exit(99)\n')
    await Bun.write(
      join(folder.path, 'tsconfig.json'),
      '{"compilerOptions":{"jsxImportSource":"nope"}}',
    )
    await Bun.write(join(folder.path, 'package.json'), '{"name":"x","imports":{}}')

    const { code, out } = await command({ cwd: folder.path, args: ['version', '--json'] })

    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ version: expect.any(String), bun: '1.4.5' })
  })

  test('has the notices inside, and the same bytes whenever it is compiled from the same commit', async () => {
    using folder = temporaryFolder()
    const run = (...args: string[]) => command({ cwd: folder.path, args })
    const outfile = join(folder.path, 'gatehouse')
    const { commit } = (await run('version', '--json')).json()
    const companions = await compile({ outfile, commit })

    expect((await run('version', '--notices')).out).toBe(companions['THIRD-PARTY-NOTICES'])
    for (const [name, text] of Object.entries(companions))
      expect(await Bun.file(join(dirname(BINARY), name)).text()).toBe(text)
    expect(Buffer.compare(readFileSync(outfile), readFileSync(BINARY))).toBe(0)
  }, 60_000)

  test('serves pages, documents and assets from inside itself', async () => {
    using folder = temporaryFolder()
    await using server = await startServer({ cwd: folder.path })

    const reference = await fetch(`${server.url}/reference`)
    expect(await reference.text()).toContain('Create a cron job')
    const home = await fetch(`${server.url}/`, { headers: { accept: 'text/html' } })
    expect(await home.text()).toContain('Not set up yet')
    for (const path of [
      '/openapi.json',
      '/assets/console.css',
      '/assets/console.js',
      '/assets/htmx.js',
      '/assets/gatehouse.css',
      '/assets/icon.svg',
      '/healthz',
      '/readyz',
    ])
      expect((await fetch(server.url + path)).status).toBe(200)
    expect((await fetch(`${server.url}/healthz`, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
  })

  test('exits 78 with every configuration error at once, 2 for a wrong command line, 1 for a failure', async () => {
    using folder = temporaryFolder()
    await Bun.write(join(folder.path, 'gatehouse.toml'), '[server]\nport = "many"\nprot = 1\n')

    const misconfigured = await command({ cwd: folder.path, args: ['serve'] })
    expect(misconfigured.code).toBe(78)
    expect(misconfigured.err).toContain('gatehouse.toml:2')
    expect(misconfigured.err).toContain('did you mean port?')

    const mistyped = await command({ cwd: folder.path, args: ['tenant', 'crate'] })
    expect(mistyped.code).toBe(2)
    expect(mistyped.err).toContain('did you mean tenant create?')

    using other = temporaryFolder()
    await command({ cwd: other.path, args: ['tenant', 'create', '--name', 'Acme'] })
    const unknown = await command({ cwd: other.path, args: ['tenant', 'show', 'nobody', '--json'] })
    expect(unknown.code).toBe(1)
    expect(JSON.parse(unknown.err)).toEqual({ error: 'tenant not found' })
  })

  test('finishes what is under way at SIGTERM and gives nothing up', async () => {
    using folder = temporaryFolder()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await using target = startTarget(async () => {
      await held
      return new Response('late but here')
    })
    const args = [...ALLOW_LOOPBACK, '--clockwork-tick', '1s']
    await using server = await startServer({ cwd: folder.path, args })
    const { id } = (
      await command({ cwd: folder.path, args: ['tenant', 'create', '--name', 'A', '--json'] })
    ).json()
    const { key } = (
      await command({
        cwd: folder.path,
        args: ['key', 'create', '--tenant', id, '--engine', 'clockwork', '--json'],
      })
    ).json()
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({
      name: 'n',
      run_at: new Date(Date.now() + 2000).toISOString(),
      url: target.url,
    })
    const made = await fetch(`${server.url}/v1/clockwork/delayed`, {
      method: 'POST',
      headers,
      body,
    })
    expect(made.status).toBe(201)
    await until(() => target.requests.length === 1, server.out)

    const ended = server.terminate()
    await until(async () => (await fetch(`${server.url}/readyz`)).status === 503)
    release()
    expect(await ended).toBe(0)

    await using again = await startServer({ cwd: folder.path, args })
    const jobs = await (await fetch(`${again.url}/v1/clockwork/delayed`, { headers })).json()
    expect(jobs).toMatchObject([{ status: 'success' }])
    expect(target.requests).toHaveLength(1)
  }, 300_000)
})
