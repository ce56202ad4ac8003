import { beforeAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileBinary, type Server, until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { DELIVERIES, ENDPOINTS, MESSAGES } from './support/api.ts'
import type { Answered } from './support/client.ts'
import { openInstallation } from './support/installation.ts'
import { startLoad } from './support/load.ts'
import { openRelay } from './support/relay.ts'

beforeAll(compileBinary, 120_000)

test('A rotation that is killed and run again breaks no signature, while commands and a backup go on', async () => {
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
    const { id, secret } = await relay.make(at(n), 'POST', ENDPOINTS, endpoint)
    secrets.set(`/hook/${n}`, secret)
    const event = { event_type: `to.n${n}`, payload: {} }
    const sent = await relay.ask(at(n + 1), 'POST', MESSAGES, event)
    const delivered = () => target.requests.some(({ path }) => path === `/hook/${n}`)
    await until(delivered)
    // A tenant may have 1000 endpoints.
    if (n % 10 > 0) await relay.make(at(n), 'DELETE', `${ENDPOINTS}/${id}`)
    return sent
  }
  const load = startLoad(3, act)

  const failures: string[] = []
  let isOver = false
  let commands = 0
  async function operate() {
    const verbs = [
      ['tenant', 'create', '--name', 'Other'],
      ['key', 'create', '--tenant', tenant, '--engine', 'gate'],
      ['tenant', 'usage', tenant],
      ['audit', 'list'],
      ['doctor'],
    ]
    for (; !isOver; commands++) {
      const { code, err } = await installation.run(...(verbs[commands % verbs.length] ?? []))
      if (code !== 0) failures.push(`${verbs[commands % verbs.length]}: ${err}`)
    }
  }
  const operator = operate()
  const keysInFile = () =>
    readFileSync(join(installation.dataDir, 'master.key'), 'utf8').trim().split('\n').length
  const more = async (count: number) => {
    const sofar = load.calls.length
    await until(() => load.calls.length > sofar + count)
  }

  await more(10)
  const killed = installation.begin('secrets', 'rotate')
  await until(() => keysInFile() === 2)
  killed.kill('SIGKILL')
  await killed.exited
  await more(10)
  const rotated = installation.ask('secrets', 'rotate')
  await more(10)
  const archive = join(installation.cwd, 'middle.tar.gz')
  await installation.done('backup', '--to', archive)
  expect(keysInFile()).toBe(2)
  const told = performance.now()
  await load.stop()
  expect(await server.terminate()).toBe(0)
  expect(performance.now() - told).toBeLessThan(10_000)
  servers[0] = await installation.serve()
  const rest = startLoad(3, (n) => act(100_000 + n))
  expect(await rotated).not.toHaveProperty('unopenable')
  expect(keysInFile()).toBe(1)
  await until(() => rest.calls.length > 20)
  isOver = true
  await operator
  await rest.stop()

  expect([...load.broken, ...rest.broken]).toEqual([])
  expect([...load.refused(), ...rest.refused()]).toEqual([])
  expect(failures).toEqual([])
  expect(commands).toBeGreaterThan(5)
  expect(forged).toEqual([])
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
