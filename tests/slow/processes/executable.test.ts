import { beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compile } from '../../../scripts/build.ts'
import { BINARY, command, compileBinary, startServer, until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startTarget } from '../../support/target.ts'
import { clientOf, type Json } from '../resilience/support/client.ts'

/** The executable in a folder of its own, without environment and configuration. */

beforeAll(compileBinary, 120_000)

test('The executable starts in an empty folder that is configured for other programs, with users, jobs, webhooks, policies, emails, pages and assets; finishes running work at SIGTERM', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: cwd } = stack.use(temporaryFolder())
  for (const [name, text] of [
    ['.env', 'GATEHOUSE_SERVER_PORT=notaport\n'],
    ['bunfig.toml', 'preload = ["./evil.ts"]\n'],
    ['evil.ts', 'process.exit(99)\n'],
    ['tsconfig.json', '{"compilerOptions":{"jsxImportSource":"nope"}}'],
    ['package.json', '{"name":"x","imports":{}}'],
  ] as const)
    await Bun.write(join(cwd, name), text)
  const target = stack.use(startTarget(() => new Response('thanks', { status: 202 })))
  const smtp = stack.use(await startMailServer())
  const sender = ['--mail-from', 'gatehouse@example.org']
  const args = ['--outbound-allow', '127.0.0.1', '--clockwork-tick', '100ms', ...sender]
  const env = { GATEHOUSE_MAIL_SMTP_URL: smtp.url }
  const start = async () => stack.use(await startServer({ cwd, args, env }))
  const run = async (...args: string[]) =>
    (await command({ cwd, args: [...args, '--json'] })).json()

  const server = await start()
  await until(() => server.err().includes(`${BINARY} tenant create --name Acme`), server.err)
  expect(server.err()).toContain(`curl ${server.url}/v1/clockwork/jobs`)
  const modeOf = (name: string) => statSync(join(cwd, 'data', name)).mode
  expect(modeOf('.') & 0o777).toBe(0o700)
  for (const name of readdirSync(join(cwd, 'data'))) expect(modeOf(name) & 0o077).toBe(0)
  const get = (path: string, init?: RequestInit) => fetch(server.url + path, init)
  expect(await (await get('/reference/clockwork')).text()).toContain('Create a cron job')
  const page = await get('/', { headers: { accept: 'text/html' } })
  expect(await page.text()).toContain('Not set up yet')
  const assets = [
    'console.css',
    'console.js',
    'htmx.js',
    'gatehouse.css',
    'fonts.css',
    'inter.woff2',
    'icon.svg',
  ]
  const paths = ['/openapi.json', '/healthz', '/readyz', ...assets.map((name) => `/assets/${name}`)]
  for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200])
  expect((await get('/metrics')).status).toBe(404)

  const tenant = await run('tenant', 'create', '--name', 'Acme')
  const newKey = async (engine: string) =>
    (await run('key', 'create', '--tenant', tenant.id, '--engine', engine)).key
  const jobs = clientOf(await newKey('clockwork'))
  const received = (end: string) => target.requests.find(({ path }) => path.endsWith(end))
  const runOnce = (name: string) => {
    const run_at = new Date(Date.now() + 1000).toISOString()
    const job = { name, run_at, url: `${target.url}/${name}`, method: 'PUT' }
    return jobs.make(server, 'POST', '/v1/clockwork/delayed', job)
  }
  const delayed = await runOnce('once')
  const runs = () =>
    jobs.make(server, 'GET', `/v1/clockwork/delayed/${delayed.id}/executions`) as Promise<Json[]>
  await until(async () => (await runs())[0]?.status === 'success', server.out)
  const [onceRun] = await runs()
  expect(onceRun).toMatchObject({ response_status: 202, response_body: 'thanks', attempt: 1 })
  expect(received('/once')?.method).toBe('PUT')
  expect(received('/once')?.headers.get('x-clockwork-execution-id')).toBe(onceRun.id)

  const gateKey = await newKey('gate')
  const gate = clientOf(gateKey)
  const call = (method: string, path: string, body: object) =>
    gate.make(server, method, `/v1/gate${path}`, body)
  await call('POST', '/settings/webhooks', { url: `${target.url}/user` })
  const email = 'ada@example.com'
  const credentials = { password: { config: { password: 'correct horse' } } }
  const { id: subject } = await call('POST', '/identities', {
    ...{ schema_id: 'user', traits: { email }, credentials },
  })
  await until(() => received('/user') !== undefined, server.out)
  expect(received('/user')?.body).toContain(subject)
  const { access_token } = await call('POST', '/tokens', { api_key: gateKey, subject })
  const introspection = await call('POST', '/tokens/introspect', { access_token })
  expect(introspection).toMatchObject({ active: true, subject })
  const question = { subject, action: 'invoices.pay', resource: 'invoice:7' }
  expect((await call('POST', '/authorize', question)).allowed).toBe(false)
  const deep = `permit (principal, action, resource) when { ${'1 + '.repeat(4000)}1 == 1 };`
  const refused = await gate.ask(server, 'PUT', '/v1/gate/settings/policies', { policies: deep })
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    ...[400, expect.stringContaining('nested too deeply')],
  ])
  const policies = '@id("payers") permit (principal is Identity, action, resource is Invoice);'
  await call('PUT', '/settings/policies', { policies })
  const allowed = { allowed: true, reason: 'permitted by policy "payers"' }
  expect(await call('POST', '/authorize', question)).toMatchObject(allowed)
  await call('POST', `/identities/${subject}/resend-verification`, {})
  await until(() => smtp.received.length === 1, server.out)
  expect(smtp.received[0]?.to).toEqual([email])

  const held = Promise.withResolvers<Response>()
  target.answers(() => held.promise)
  await runOnce('last')
  await until(() => received('/last') !== undefined, server.out)
  const health = async () =>
    (await command({ cwd, args: ['healthcheck', '--server-port', new URL(server.url).port] })).code
  expect(await health()).toBe(0)
  const ended = server.terminate()
  await until(async () => (await get('/readyz')).status === 503)
  held.resolve(new Response('late'))
  expect([await ended, await health()]).toEqual([0, 1])
  expect((await run('doctor')).ok).toBe(true)
  const again = await start()
  const states: Json[] = await jobs.make(again, 'GET', '/v1/clockwork/delayed')
  expect(states.map(({ status }) => status)).toEqual(['success', 'success'])
  expect(target.requests.filter(({ path }) => path.endsWith('/last'))).toHaveLength(1)
}, 300_000)

test('The executable contains the notices, and has the same bytes whenever it is compiled from the same commit', async () => {
  using folder = temporaryFolder()
  const run = (...args: string[]) => command({ cwd: folder.path, args })
  const outfile = join(folder.path, 'gatehouse')
  const { commit, bun } = (await run('version', '--json')).json()
  expect(bun).toBe('1.4.5')
  const companions = await compile({ outfile, commit })
  expect((await run('version', '--notices')).out).toBe(companions['THIRD-PARTY-NOTICES'])
  for (const [name, text] of Object.entries(companions))
    expect(await Bun.file(join(dirname(BINARY), name)).text()).toBe(text)
  expect(Buffer.compare(readFileSync(outfile), readFileSync(BINARY))).toBe(0)
}, 120_000)
