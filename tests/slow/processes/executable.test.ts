import { beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compile } from '../../../scripts/build.ts'
import { BINARY, command, compileBinary, startServer, until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startTarget } from '../../support/target.ts'

/** The executable in a folder of its own, without environment and configuration. */

beforeAll(compileBinary, 120_000)

const ALLOW_LOOPBACK = ['--outbound-allow', '127.0.0.1']

interface Launch {
  args?: string[]
  env?: Record<string, string>
}

/** A server in a new folder, with the command line there and the API of an engine. */
async function startHome({ args = ALLOW_LOOPBACK, env = {} }: Launch = {}) {
  const stack = new AsyncDisposableStack()
  const { path: cwd } = stack.use(temporaryFolder())
  const start = async () => stack.use(await startServer({ cwd, args, env }))
  const server = await start()
  const cli = (...args: string[]) => command({ cwd, args: [...args, '--json'] })

  async function apiOf(engine: string, at = server.url) {
    const tenant = (await cli('tenant', 'create', '--name', 'Acme')).json()
    const key = (await cli('key', 'create', '--tenant', tenant.id, '--engine', engine)).json()
    const headers = { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' }
    const call = async (method: string, path: string, body?: object, url = at) => {
      const init = { method, headers, body: body && JSON.stringify(body) }
      const response = await fetch(`${url}/v1/${engine}${path}`, init)
      // biome-ignore lint/suspicious/noExplicitAny: bodies of several routes
      return { status: response.status, body: (await response.json()) as any }
    }
    return { tenant, key, call }
  }

  return { cwd, server, start, cli, apiOf, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('prints the first steps, creates a tenant and a key, and runs cron and delayed jobs', async () => {
  await using target = startTarget(() => new Response('thanks', { status: 202 }))
  await using home = await startHome()
  const { server, cli } = home
  await until(() => server.err().includes(`${BINARY} tenant create --name Acme`), server.err)
  expect(server.err()).toContain(`curl ${server.url}/v1/clockwork/jobs`)
  const { tenant, key, call } = await home.apiOf('clockwork')
  const id = expect.any(String)
  expect(tenant).toEqual({ id, name: 'Acme', plan: 'unlimited', status: 'active' })
  expect(key).toEqual({
    id,
    key: expect.stringMatching(/^svc_clockwork_[0-9A-Za-z]{43}$/),
    engine: 'clockwork',
    environment: null,
    scopes: ['clockwork'],
  })

  const cron = await call('POST', '/jobs', {
    name: 'hello',
    schedule: '* * * * *',
    url: `${target.url}/cron`,
    headers: { 'X-Shop': 'books' },
    body: '{"n":1}',
  })
  const run_at = new Date(Date.now() + 100).toISOString()
  const once = { name: 'once', run_at, url: `${target.url}/once`, method: 'PUT' }
  const delayed = await call('POST', '/delayed', once)
  expect([cron.status, delayed.status]).toEqual([201, 201])
  const lastRun = async (path: string) => (await call('GET', `${path}/executions`)).body[0]
  const paths = [`/jobs/${cron.body.id}`, `/delayed/${delayed.body.id}`]
  const runs = () => Promise.all(paths.map(lastRun))
  await until(async () => (await runs()).every((run) => run?.status === 'success'), server.out)
  const [cronRun, onceRun] = await runs()
  const received = (end: string) => target.requests.find(({ path }) => path.endsWith(end))
  const success = { response_status: 202, response_body: 'thanks', attempt: 1, error_message: null }
  expect(cronRun).toMatchObject(success)
  const headers = received('/cron')?.headers
  expect(received('/cron')).toMatchObject({ method: 'POST', body: '{"n":1}' })
  expect(headers?.get('x-shop')).toBe('books')
  expect(headers?.get('x-clockwork-execution-id')).toBe(cronRun.id)
  expect(headers?.get('x-clockwork-attempt')).toBe('1')
  expect(received('/once')?.method).toBe('PUT')
  expect(received('/once')?.headers.get('x-clockwork-execution-id')).toBe(onceRun.id)

  const health = async () =>
    (await cli('healthcheck', '--server-port', new URL(server.url).port)).code
  expect(await health()).toBe(0)
  expect(await server.terminate()).toBe(0)
  expect(await health()).toBe(1)
  expect((await cli('doctor')).json().ok).toBe(true)
}, 300_000)

test('has users, webhooks, tokens, policies and emails', async () => {
  await using target = startTarget()
  await using smtp = await startMailServer()
  const args = [...ALLOW_LOOPBACK, '--mail-from', 'Gatehouse <gatehouse@example.org>']
  await using home = await startHome({ args, env: { GATEHOUSE_MAIL_SMTP_URL: smtp.url } })
  const { tenant, key, call } = await home.apiOf('gate')
  await call('POST', '/settings/webhooks', { url: target.url })
  const email = 'ada@example.com'
  const credentials = { password: { config: { password: 'correct horse' } } }
  const user = await call('POST', '/identities', {
    schema_id: 'user',
    traits: { email },
    credentials,
  })
  const subject = user.body.id
  await until(() => target.requests.length === 1, home.server.out)
  expect(JSON.parse(target.requests[0]?.body ?? '')).toMatchObject({
    event_type: 'identity.created',
    tenant_id: tenant.id,
    data: { identity_id: subject, payload: { email } },
  })

  const { access_token } = (await call('POST', '/tokens', { api_key: key.key, subject })).body
  const introspection = await call('POST', '/tokens/introspect', { access_token })
  expect(introspection.body).toMatchObject({ active: true, subject })
  const question = { subject, action: 'invoices.pay', resource: 'invoice:7' }
  expect((await call('POST', '/authorize', question)).body.allowed).toBe(false)
  const policies = '@id("payers") permit (principal is Identity, action, resource is Invoice);'
  await call('PUT', '/settings/policies', { policies })
  const allowed = { allowed: true, reason: 'permitted by policy "payers"' }
  expect((await call('POST', '/authorize', question)).body).toMatchObject(allowed)

  expect((await call('POST', `/identities/${subject}/resend-verification`)).status).toBe(202)
  await until(() => smtp.received.length === 1, home.server.out)
  expect(smtp.received[0]?.to).toEqual([email])
}, 300_000)

test('keeps its data for its owner alone, and ignores configuration of other programs', async () => {
  using folder = temporaryFolder()
  const cwd = folder.path
  for (const [name, text] of [
    ['.env', 'GATEHOUSE_SERVER_PORT=notaport\n'],
    ['bunfig.toml', 'preload = ["./evil.ts"]\n'],
    ['evil.ts', 'process.exit(99)\n'],
    ['tsconfig.json', '{"compilerOptions":{"jsxImportSource":"nope"}}'],
    ['package.json', '{"name":"x","imports":{}}'],
  ] as const)
    await Bun.write(join(cwd, name), text)
  const { code, json } = await command({ cwd, args: ['version', '--json'] })
  expect([code, json().bun]).toEqual([0, '1.4.5'])

  await command({ cwd, args: ['tenant', 'create', '--name', 'Acme'] })
  const modeOf = (name: string) => statSync(join(cwd, 'data', name)).mode
  expect(modeOf('.') & 0o777).toBe(0o700)
  for (const name of readdirSync(join(cwd, 'data'))) expect(modeOf(name) & 0o077).toBe(0)
})

test('contains the notices, and has the same bytes whenever it is compiled from the same commit', async () => {
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
  await using home = await startHome()
  const get = (path: string, init?: RequestInit) => fetch(home.server.url + path, init)
  expect(await (await get('/reference')).text()).toContain('Create a cron job')
  const page = await get('/', { headers: { accept: 'text/html' } })
  expect(await page.text()).toContain('Not set up yet')
  const assets = ['console.css', 'console.js', 'htmx.js', 'gatehouse.css', 'icon.svg']
  const paths = ['/openapi.json', '/healthz', '/readyz', ...assets.map((name) => `/assets/${name}`)]
  for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200])
  expect((await get('/healthz', { method: 'HEAD' })).status).toBe(200)
  expect((await get('/metrics')).status).toBe(404)
})

test('exits 78 with every configuration error, 2 for a wrong command line, 1 for a failure', async () => {
  using folder = temporaryFolder()
  using other = temporaryFolder()
  await Bun.write(join(folder.path, 'gatehouse.toml'), '[server]\nport = "many"\nprot = 1\n')
  await command({ cwd: other.path, args: ['tenant', 'create', '--name', 'Acme'] })
  for (const [cwd, line, code, words] of [
    [folder.path, 'serve', 78, 'gatehouse.toml:2'],
    [folder.path, 'serve', 78, 'did you mean port?'],
    [folder.path, 'tenant crate', 2, 'did you mean tenant create?'],
    [other.path, 'tenant show nobody --json', 1, '{"error":"tenant not found"}'],
  ] as const) {
    const ended = await command({ cwd, args: line.split(' ') })
    expect([line, ended.code, ended.err]).toEqual([line, code, expect.stringContaining(words)])
  }
})

test('finishes running work at SIGTERM, and repeats none of it', async () => {
  const held = Promise.withResolvers<void>()
  await using target = startTarget(async () => {
    await held.promise
    return new Response('late')
  })
  await using home = await startHome({ args: [...ALLOW_LOOPBACK, '--clockwork-tick', '1s'] })
  const { server } = home
  const { call } = await home.apiOf('clockwork')
  const run_at = new Date(Date.now() + 2000).toISOString()
  const made = await call('POST', '/delayed', { name: 'n', run_at, url: target.url })
  expect(made.status).toBe(201)
  await until(() => target.requests.length === 1, server.out)

  const ended = server.terminate()
  await until(async () => (await fetch(`${server.url}/readyz`)).status === 503)
  held.resolve()
  expect(await ended).toBe(0)
  const again = await home.start()
  const jobs = await call('GET', '/delayed', undefined, again.url)
  expect(jobs.body).toMatchObject([{ status: 'success' }])
  expect(target.requests).toHaveLength(1)
}, 300_000)
