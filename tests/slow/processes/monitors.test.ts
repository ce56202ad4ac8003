import { expect, test } from 'bun:test'
import { type Server, until } from '../../support/binary.ts'
import { numbers } from '../resilience/support/api.ts'
import { openInstallation } from '../resilience/support/installation.ts'

const MONITORS = '/v1/clockwork/monitors'
const COUNT = 250
const HOUR = 3_600_000

/** Monitors with an hour of period and of grace time, and what has become of them. */
async function useMonitors(stack: AsyncDisposableStack) {
  const installation = openInstallation(stack)
  const { newClient, newTenant, running, rows, change, count } = installation
  const clockwork = newClient(newTenant(), 'clockwork')
  const [server] = (await running(1)) as [Server]
  const monitors: { ping_url: string }[] = await Promise.all(
    numbers(COUNT).map((n) =>
      clockwork.make(server, 'POST', MONITORS, { name: `${n}`, period_seconds: 3600 }),
    ),
  )
  const paths = monitors.map(({ ping_url }) => new URL(ping_url).pathname)
  const ping = async ({ url }: Server, n: number, rest = '') =>
    (await fetch(url + paths[n % COUNT] + rest)).ok

  return {
    ...{ server, ping, running, change, rows },
    inState: (state: string) => count(`monitors WHERE state = '${state}'`),
    /** Lets the time of all that wait for a ping be over. */
    expire: () =>
      change('UPDATE monitors SET expected_at = 1, due_at = 1 WHERE due_at IS NOT NULL'),
    isWaiting: () => count(`monitors WHERE due_at < ${Date.now()}`) === 0,
    announced: () =>
      rows<{ n: number }>(
        `SELECT count(*) AS n FROM monitor_transitions WHERE to_state = 'down' UNION ALL
         SELECT count(*) FROM messages WHERE type = 'monitor.down' UNION ALL
         SELECT count(*) FROM alerts WHERE kind = 'monitor.down'`,
      ).map(({ n }) => n),
  }
}

test('A ping that was answered is on disk after a kill -9', async () => {
  await using stack = new AsyncDisposableStack()
  const { server, ping, running, rows } = await useMonitors(stack)
  const answered = new Set<string>()
  const produce = async (worker: number) => {
    for (let n = worker; n < 20 * COUNT; n += 16)
      if (await ping(server, n, `?rid=${n}`)) answered.add(`${n}`)
  }
  const producers = Promise.allSettled(numbers(16).map(produce))
  await until(() => answered.size > 2 * COUNT, server.out)
  await server.kill()
  await producers
  await running(1)
  const stored = rows<{ rid: string }>('SELECT rid FROM monitor_pings').map(({ rid }) => rid)
  expect(answered.size).toBeLessThan(20 * COUNT)
  expect([...answered].filter((rid) => !stored.includes(rid))).toEqual([])
}, 300_000)

test('Each monitor is announced as down once, by any of two processes, and never for an outage', async () => {
  await using stack = new AsyncDisposableStack()
  const { server, ping, running, change, inState, expire, isWaiting, announced } =
    await useMonitors(stack)
  const killAll = async () => {
    for (const each of await running(2)) await each.kill()
  }
  for (const n of numbers(COUNT)) await ping(server, n)
  await until(() => inState('up') === COUNT, server.out)

  await killAll()
  expire()
  change('UPDATE monitor_watch SET watched_at = ?', Date.now() - HOUR)
  await running(2)
  await until(() => inState('up') === COUNT && isWaiting(), server.out)
  expect(announced()).toEqual([0, 0, 0])

  await killAll()
  expire()
  change('UPDATE monitor_watch SET watched_at = ?', Date.now() - 1000)
  await running(2)
  await until(() => inState('late') === COUNT && isWaiting(), server.out)
  expect(announced()).toEqual([0, 0, 0])

  expire()
  await until(() => inState('down') > 0, server.out)
  await killAll()
  await running(2)
  await until(() => inState('late') + inState('down') === COUNT && isWaiting(), server.out)
  expire()
  await until(() => inState('down') === COUNT, server.out)
  expect(announced()).toEqual([COUNT, COUNT, COUNT])
}, 300_000)
