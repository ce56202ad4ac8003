import { expect, test } from 'bun:test'
import { type Server, until } from '../../support/binary.ts'
import { MESSAGES, message, numbers } from '../resilience/support/api.ts'
import { openInstallation } from '../resilience/support/installation.ts'
import { slowestMs, startLoad } from '../resilience/support/load.ts'

test('Processes count together what they answer, refuse new work beyond what is free, and lose a second of it when killed', async () => {
  await using stack = new AsyncDisposableStack()
  const settings = { GATEHOUSE_METERING_FREE_REQUESTS: '60' }
  const { here, newClient, newTenant, running, rows } = openInstallation(stack, { settings })
  const [unlimited, free] = [newTenant(), newTenant('free')]
  const relay = newClient(unlimited, 'relay')
  const guest = newClient(free, 'relay')
  const usage = async (id: string): Promise<number> =>
    (await here('tenant', 'usage', id, '--json')).json().requests
  /** What is counted on disk. */
  const counted = (id = unlimited) =>
    rows<{ requests: number }>(`SELECT requests FROM usage_months WHERE tenant_id = '${id}'`)[0]
      ?.requests ?? 0
  const servers = await running(2)
  const [one, two] = servers as [Server, Server]
  const send = async (server: Server, by = relay) =>
    (await by.ask(server, 'POST', MESSAGES, message(0))).status
  const read = async (server: Server) => (await relay.ask(server, 'GET', MESSAGES)).status
  const inTurns = (count: number, call: (server: Server) => Promise<number>) =>
    Promise.all(numbers(count).map((n) => call(servers[n % 2] as Server)))

  const let60In = await Promise.all(numbers(60).map(() => send(one, guest)))
  await until(() => counted(free) === 60, one.out)
  expect(new Set(let60In)).toEqual(new Set([202]))
  expect([await send(one, guest), await send(two, guest)]).toEqual([429, 429])
  expect(await usage(free)).toBe(60)

  const statuses = [await inTurns(100, read), await inTurns(100, send)].flat()
  expect(new Set(statuses)).toEqual(new Set([200, 202]))
  expect(await one.terminate()).toBe(0)
  await until(() => counted() === 200, two.out)

  const load = startLoad(1, () => relay.ask(two, 'GET', MESSAGES))
  const { calls } = load
  let behindMs = 0
  /** How many calls of the load are counted, noting how long the next one has not been. */
  function look(): number {
    const now = performance.now()
    const kept = counted() - 200
    behindMs = Math.max(behindMs, now - (calls[kept]?.answeredAt ?? now))
    return kept
  }
  await until(() => look() > 20)
  const sofar = look()
  await until(() => look() > sofar)
  await until(() => calls.length > look())
  const killedAt = performance.now()
  await Promise.all([two.kill(), load.stop()])

  const kept = (await usage(unlimited)) - 200
  const lostMs = killedAt - (calls[kept]?.answeredAt ?? killedAt)
  // What keeps an answer waiting keeps the count waiting, too.
  expect(Math.max(behindMs, lostMs)).toBeLessThan(1000 + slowestMs(calls))
  expect(kept).toBeLessThanOrEqual(calls.length + 1)
  const [next] = (await running(1)) as [Server]
  for (const _ of numbers(10)) await read(next)
  expect(await next.terminate()).toBe(0)
  expect(await usage(unlimited)).toBe(200 + kept + 10)
}, 300_000)
