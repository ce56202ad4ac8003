import { Database } from 'bun:sqlite'
import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { command, compileBinary, type Server, startServer, until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { clientOf } from '../resilience/support/client.ts'
import { slowestMs, startLoad } from '../resilience/support/load.ts'

beforeAll(compileBinary, 120_000)

const MESSAGES = '/v1/relay/messages'

/** A tenant on a new data directory, and what its processes have counted. */
async function metered(cwd: string, plan: string, env: Record<string, string> = {}) {
  const run = async (...args: string[]) =>
    (await command({ cwd, env, args: [...args, '--json'] })).json()
  const { id } = await run('tenant', 'create', '--name', 'Acme', '--plan', plan)
  const { key } = await run('key', 'create', '--tenant', id, '--engine', 'relay')
  const relay = clientOf(key)
  const event = { event_type: 'order.paid', payload: {} }

  const start = () => startServer({ cwd, env })
  const ask = (server: Server) => relay.ask(server, 'GET', MESSAGES)
  const read = async (server: Server) => (await ask(server)).status
  const send = async (server: Server) => (await relay.ask(server, 'POST', MESSAGES, event)).status
  const usage = async (): Promise<number> => (await run('tenant', 'usage', id)).requests

  return { start, ask, read, send, usage }
}

/** What is counted on disk, in less time than a command takes. */
function countedIn(cwd: string) {
  const client = new Database(join(cwd, 'data', 'gatehouse.db'), { readonly: true })
  const sum = client.prepare<{ requests: number | null }, []>(
    'SELECT sum(requests) AS requests FROM usage_months',
  )
  return { requests: () => sum.get()?.requests ?? 0, [Symbol.dispose]: () => client.close() }
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
  }, 300_000)

  test('refuse new work as soon as the last that was left is stored, whoever let that in', async () => {
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
  }, 300_000)
})

describe('a process that is killed', () => {
  test('loses no more than what it has answered within the last second', async () => {
    using folder = temporaryFolder()
    const { start, ask, read, usage } = await metered(folder.path, 'unlimited')
    await using server = await start()
    using counted = countedIn(folder.path)
    const load = startLoad(1, () => ask(server))
    const { calls } = load
    let behindMs = 0

    function look(): number {
      const now = performance.now()
      const requests = counted.requests()
      behindMs = Math.max(behindMs, now - (calls[requests]?.answeredAt ?? now))
      return requests
    }
    await until(() => look() > 50)
    const lookedAt = look()
    await until(() => look() > lookedAt)
    await until(() => calls.length > counted.requests())
    const killedAt = performance.now()
    await Promise.all([server.kill(), load.stop()])

    const kept = await usage()
    const lostMs = killedAt - (calls[kept]?.answeredAt ?? killedAt)
    // What keeps an answer waiting keeps the count waiting, too.
    expect(Math.max(behindMs, lostMs)).toBeLessThan(1000 + slowestMs(calls))
    expect(kept).toBeLessThanOrEqual(calls.length + 1)
    await using next = await start()
    await spread([next], 10, read)
    expect(await next.terminate()).toBe(0)
    expect(await usage()).toBe(kept + 10)
  }, 300_000)
})
