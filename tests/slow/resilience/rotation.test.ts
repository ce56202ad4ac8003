import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Server, until } from '../../support/binary.ts'
import { cli } from '../../support/cli.ts'
import { startTarget } from '../../support/target.ts'
import { DELIVERIES, ENDPOINTS, MESSAGES } from './support/api.ts'
import type { Answered } from './support/client.ts'
import { openInstallation } from './support/installation.ts'
import { startLoad } from './support/load.ts'
import { openRelay } from './support/relay.ts'

test('A rotation that is killed and run again breaks no signature and prints no key, while commands, a backup and a restart go on', async () => {
  await using stack = new AsyncDisposableStack()
  const { installation, server, tenant, relay } = await openRelay(stack)
  const servers = [server, await installation.serve()]
  const at = (n: number) => servers[n % 2] as Server
  const secrets = new Map<string, string>()
  const forged: string[] = []
  const target = stack.use(
    startTarget(({ path, headers, body }) => {
      if (!isSigned(headers, body, secrets.get(path) ?? '')) forged.push(path)
      return new Response('ok')
    }),
  )

  /** Creates an endpoint with a secret of its own at one server and sends it an event at the other. */
  async function act(n: number): Promise<Answered> {
    const endpoint = { url: `${target.url}/${n}`, event_types: [`to.n${n}`] }
    const { secret } = await relay.make(at(n), 'POST', ENDPOINTS, endpoint)
    secrets.set(`/hook/${n}`, secret)
    const event = { event_type: `to.n${n}`, payload: {} }
    const sent = await relay.ask(at(n + 1), 'POST', MESSAGES, event)
    await until(() => target.requests.some(({ path }) => path === `/hook/${n}`))
    // A light load, as a tenant may have 1000 endpoints.
    await Bun.sleep(30)
    return sent
  }
  const load = startLoad(2, act)
  const keys = () =>
    readFileSync(join(installation.dataDir, 'master.key'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(':')[1] ?? line)
  const more = async (running: typeof load) => {
    const sofar = running.calls.length
    await until(() => running.calls.length > sofar + 5)
  }

  await more(load)
  const used = keys()
  const killed = installation.begin('secrets', 'rotate')
  await until(() => keys().length === 2)
  killed.kill('SIGKILL')
  await killed.exited
  used.push(...keys())
  // Two at once are one rotation.
  const env = { GATEHOUSE_DATA_DIR: installation.dataDir }
  const rotations = Promise.all([
    installation.run('secrets', 'rotate', '--json'),
    cli(installation.cwd, { env, isWatched: true })('secrets', 'rotate'),
  ])
  await more(load)
  const archive = join(installation.cwd, 'middle.tar.gz')
  await installation.done('backup', '--to', archive)
  expect(keys()).toHaveLength(2)
  for (const command of [
    ['tenant', 'create', '--name', 'Other'],
    ['key', 'create', '--tenant', tenant, '--engine', 'gate'],
    ['doctor'],
  ])
    expect(await installation.here(...command)).toMatchObject({ code: 0 })
  await load.stop()
  const told = performance.now()
  expect(await server.terminate()).toBe(0)
  expect(performance.now() - told).toBeLessThan(10_000)
  servers[0] = await installation.serve()
  const rest = startLoad(2, (n) => act(100_000 + n))
  const [rotated, watched] = await rotations
  expect(keys()).toHaveLength(1)
  used.push(...keys())
  await more(rest)
  await rest.stop()

  expect([rotated.code, rotated.err, watched.code]).toEqual([0, '', 0])
  const id = expect.stringMatching(/^[0-9a-f]{12}$/)
  const { from, to, ...outcome } = rotated.json()
  expect([from, to]).toEqual([id, id])
  expect(Object.keys(outcome)).toEqual(['resealed', 'duration_ms'])
  expect(watched.out).toContain(`Replaced master key ${from} with ${to}`)
  expect(watched.out).toContain('Back up master.key')
  expect(watched.err).toContain('Waiting for servers to load the new key: 10 seconds')
  for (const key of used)
    for (const text of [rotated.out, watched.out, watched.err]) expect(text).not.toContain(key)
  expect((await installation.here('doctor')).out).toContain(`id ${to}`)
  for (const { broken, refused } of [load, rest]) expect([...broken, ...refused()]).toEqual([])
  // The target has the request before the server has the answer.
  await until(async () => {
    const { data } = await relay.make(at(0), 'GET', `${DELIVERIES}?limit=100`)
    return data.every((row: { status: string }) => row.status === 'succeeded')
  })

  const copy = openInstallation(stack)
  await copy.done('restore', archive)
  expect(await copy.problems()).toEqual([])
  const there = await copy.serve()
  const [endpoint] = await relay.walk(there, ENDPOINTS)
  const before = target.requests.length
  const event = { event_type: endpoint.event_types[0], payload: {} }
  await relay.make(there, 'POST', MESSAGES, event)
  await until(() => target.requests.length > before, there.out)
  expect(forged).toEqual([])
}, 300_000)

/** Checks the signature of Standard Webhooks without our own code. */
function isSigned(headers: Headers, body: string, secret: string): boolean {
  const signed = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', key).update(signed).digest('base64')
  return (headers.get('webhook-signature') ?? '').split(' ').includes(`v1,${expected}`)
}
