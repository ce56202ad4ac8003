import { beforeAll, describe, expect, test } from 'bun:test'
import { command, compileBinary, type Server, startServer, until } from './support/binary.ts'
import { temporaryFolder } from './support/folder.ts'

beforeAll(compileBinary, 120_000)

/** A tenant on a new data directory, and what its processes have counted. */
async function metered(cwd: string, plan: string, env: Record<string, string> = {}) {
  const run = async (...args: string[]) =>
    (await command({ cwd, env, args: [...args, '--json'] })).json()
  const { id } = await run('tenant', 'create', '--name', 'Acme', '--plan', plan)
  const { key } = await run('key', 'create', '--tenant', id, '--engine', 'relay')
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ event_type: 'order.paid', payload: {} })

  const start = () => startServer({ cwd, env })
  const status = async (server: Server, init?: RequestInit) =>
    (await fetch(`${server.url}/v1/relay/messages`, { headers, ...init })).status
  const read = (server: Server) => status(server)
  const send = (server: Server) => status(server, { method: 'POST', body })
  const usage = async (): Promise<number> => (await run('tenant', 'usage', id)).requests

  return { start, read, send, usage }
}

/** All at once, in turns over the servers. */
const spread = (servers: Server[], count: number, call: (server: Server) => Promise<number>) =>
  Promise.all(Array.from({ length: count }, (_, n) => call(servers[n % servers.length] as Server)))

describe('processes on one data directory', () => {
  test('count together what each has answered, exactly, once they have stopped', async () => {
    using folder = temporaryFolder()
    const { start, read, send, usage } = await metered(folder.path, 'unlimited')
    await using one = await start()
    await using two = await start()
    await using three = await start()
    const servers = [one, two, three]

    const statuses = [await spread(servers, 200, read), await spread(servers, 200, send)].flat()
    const ends = await Promise.all(servers.map((server) => server.terminate()))

    expect(new Set(statuses)).toEqual(new Set([200, 202]))
    expect(ends).toEqual([0, 0, 0])
    expect(await usage()).toBe(400)
  }, 60_000)

  test('refuse new work within a second of the last that was left, whoever let that in', async () => {
    using folder = temporaryFolder()
    const env = { GATEHOUSE_METERING_FREE_REQUESTS: '60' }
    const { start, send, usage } = await metered(folder.path, 'free', env)
    await using one = await start()
    await using two = await start()

    const first = await spread([one], 60, send)
    await until(
      async () => (await usage()) === 60,
      () => 'the first process has not stored its count',
    )

    expect(new Set(first)).toEqual(new Set([202]))
    expect([await send(one), await send(two)]).toEqual([429, 429])
    expect(await usage()).toBe(60)
  }, 60_000)
})

describe('a process that is killed', () => {
  test('loses no more than what it has counted since it last stored', async () => {
    using folder = temporaryFolder()
    const { start, read, usage } = await metered(folder.path, 'unlimited')
    await using server = await start()
    await spread([server], 100, read)
    const answeredAt = performance.now()
    await until(
      async () => (await usage()) === 100,
      () => 'the count was not stored',
    )
    expect(performance.now() - answeredAt).toBeLessThan(5000)
    await spread([server], 50, read)

    await server.kill()

    const counted = await usage()
    expect(counted).toBeGreaterThanOrEqual(100)
    expect(counted).toBeLessThanOrEqual(150)
    await using next = await start()
    await spread([next], 10, read)
    expect(await next.terminate()).toBe(0)
    expect(await usage()).toBe(counted + 10)
  }, 60_000)
})
