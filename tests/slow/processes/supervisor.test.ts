import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Server, until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { ENDPOINTS, eventId, JOBS, MESSAGES, numbers } from '../resilience/support/api.ts'
import { isBroken } from '../resilience/support/client.ts'
import { openInstallation } from '../resilience/support/installation.ts'

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

/** Connections that are not kept spread over all processes. */
const ONCE = { connection: 'close' }

const open = (settings: Record<string, string> = {}) =>
  openInstallation(stack, { settings: { GATEHOUSE_SERVER_PROCESSES: '4', ...settings } })

/** The ids of the processes that serve, by their number, as the log has them. */
function processesOf(server: Server): Map<number, number> {
  const lines = server
    .out()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  const started = lines.filter(({ message }) => message === 'process started')
  return new Map(started.map(({ process, pid }) => [process, pid]))
}

const count = (server: Server, message: string) =>
  server.out().split(`"message":"${message}"`).length - 1

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('A kill -9 of one process of four under load loses nothing that was accepted', async () => {
  const { serve, newClient, newTenant, problems, rows } = open({
    GATEHOUSE_METRICS_ENABLED: 'true',
  })
  const relay = newClient(newTenant(), 'relay')
  await using target = startTarget()
  const server = await serve()
  await relay.make(server, 'POST', ENDPOINTS, { url: target.url, event_types: ['a.*'] })
  const accepted = new Set<string>()
  const rest = numbers(800).values()
  let broken = 0
  async function produce() {
    for (const n of rest)
      for (let isSent = false; !isSent; )
        try {
          const event = { event_type: 'a.b', payload: { n }, idempotency_key: `${n}` }
          const { status, body } = await relay.ask(server, 'POST', MESSAGES, event, ONCE)
          expect(status).toBe(202)
          accepted.add(body.id)
          isSent = true
        } catch (error) {
          if (!isBroken(error)) throw error
          broken++
        }
  }
  /** Asks again if the connection was one of the killed process. */
  async function metered(): Promise<number> {
    const answer = await fetch(`${server.url}/metrics`, { headers: ONCE }).catch(() => undefined)
    if (!answer) return metered()
    const text = await answer.text()
    return Number(/requests_metered_total\{engine="relay"\} (\d+)/.exec(text)?.[1])
  }
  const producers = Promise.all(numbers(16).map(produce))
  await until(() => accepted.size > 300, server.out)
  const before = await metered()
  const victim = processesOf(server).get(3) as number
  process.kill(victim, 'SIGKILL')
  expect(await metered()).toBeGreaterThanOrEqual(before)
  await producers
  await until(() => processesOf(server).get(3) !== victim, server.out)
  await until(() => new Set(target.requests.map(eventId)).size === 800, server.out)

  expect(accepted.size).toBe(800)
  expect(new Set(target.requests.map(eventId))).toEqual(accepted)
  // Only the requests of the killed process break: at most those that were open.
  expect(broken).toBeLessThanOrEqual(16)
  await until(() => rows("SELECT 1 FROM deliveries WHERE state <> 'succeeded'").length === 0)
  expect(await problems()).toEqual([])
  const code = await server.terminate()
  const endings = server
    .out()
    .split('\n')
    .filter((line) => line.includes('process ended'))
  // Only the killed one.
  expect([code, endings.slice(1)]).toEqual([0, []])
  for (const pid of processesOf(server).values()) expect(isRunning(pid)).toBe(false)
}, 120_000)

test('SIGHUP replaces the processes one by one with the new settings, and a bad file replaces none', async () => {
  const { serve, newClient, newTenant, cwd } = open()
  const file = join(cwd, 'gatehouse.toml')
  const write = (prices: string) => writeFileSync(file, `[metering]\n${prices}\n`)
  write('free_requests = 10')
  const relay = newClient(newTenant('free'), 'relay')
  const server = await serve('--config', file)
  const policy = async () =>
    (await relay.ask(server, 'GET', ENDPOINTS, undefined, ONCE)).headers.get('ratelimit-policy')
  const old = processesOf(server)

  write('free_requests = "many"')
  process.kill(server.pid, 'SIGHUP')
  await until(() => count(server, 'not reloaded: the configuration is invalid') === 1, server.out)
  expect(server.out()).toContain('gatehouse.toml:2: [metering] free_requests: must be a whole')
  expect(processesOf(server)).toEqual(old)
  expect(await policy()).toContain('"month";q=10;')

  write('free_requests = 100000')
  let isOver = false
  const statuses = new Set<number>()
  let broken = 0
  async function ask() {
    while (!isOver)
      try {
        statuses.add((await fetch(`${server.url}/readyz`, { headers: ONCE })).status)
      } catch (error) {
        if (!isBroken(error)) throw error
        broken++
      }
  }
  const asking = numbers(4).map(ask)
  process.kill(server.pid, 'SIGHUP')
  await until(() => count(server, 'reloaded') === 1, server.out)
  isOver = true
  await Promise.all(asking)
  for (const _ of numbers(8)) expect(await policy()).toContain('"month";q=100000;')
  const replaced = processesOf(server)
  for (const [number, pid] of replaced) expect(pid).not.toBe(old.get(number) as number)
  expect([...statuses]).toEqual([200])
  // A connection that the kernel has made but no process has accepted breaks with its listener.
  expect(broken).toBeLessThanOrEqual(asking.length * replaced.size)
  expect(await server.terminate()).toBe(0)
}, 120_000)

test('A limit of a minute holds for all processes together, and a revoked key for each', async () => {
  const { serve, newClient, newTenant, change } = open({
    GATEHOUSE_LIMITS_REQUESTS_PER_MINUTE: '40',
  })
  const relay = newClient(newTenant(), 'relay')
  const server = await serve()
  const ask = async () => (await relay.ask(server, 'GET', ENDPOINTS, undefined, ONCE)).status
  const startedAt = performance.now()
  const statuses = await Promise.all(numbers(120).map(ask))
  const refilled = Math.ceil(((performance.now() - startedAt) / 60_000) * 40)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  const passed = statuses.filter((status) => status === 200).length
  expect(passed).toBeGreaterThanOrEqual(40)
  expect(passed).toBeLessThanOrEqual(40 + refilled)
  change("UPDATE api_keys SET revoked_at = 1, hash = 'gone'")
  expect(new Set(await Promise.all(numbers(20).map(ask)))).toEqual(new Set([401]))
}, 60_000)

test('A tenant whose endpoints and job targets never answer delays no other tenant, in any process', async () => {
  const { serve, newClient, newTenant } = open()
  const [hostile, tenant] = [newTenant(), newTenant()]
  await using dead = startTarget(() => new Promise<Response>(() => {}))
  await using target = startTarget()
  const server = await serve()
  const clientsOf = async (tenant: string, urls: string[]) => {
    const relay = newClient(tenant, 'relay')
    for (const url of urls) await relay.make(server, 'POST', ENDPOINTS, { url })
    return { relay, clockwork: newClient(tenant, 'clockwork') }
  }
  type Clients = Awaited<ReturnType<typeof clientsOf>>
  const send = async ({ relay }: Clients, n: number) => {
    const event = { event_type: 'a.b', payload: { n } }
    expect((await relay.ask(server, 'POST', MESSAGES, event, ONCE)).status).toBe(202)
  }
  const schedule = async ({ clockwork }: Clients, url: string) => {
    const job = { name: 'job', url, run_at: new Date(Date.now() + 1000).toISOString() }
    expect((await clockwork.ask(server, 'POST', JOBS, job, ONCE)).status).toBe(201)
  }
  const ENDPOINTS_OF_HOSTILE = 16
  const attacker = await clientsOf(
    hostile,
    numbers(ENDPOINTS_OF_HOSTILE).map((n) => `${dead.url}${n}`),
  )
  const victim = await clientsOf(tenant, [target.url])
  for (const n of numbers(10)) await Promise.all(numbers(10).map(() => send(attacker, n)))
  for (const _ of numbers(10))
    await Promise.all(numbers(10).map(() => schedule(attacker, dead.url)))
  await until(() => dead.requests.length >= 40, server.out)

  const startedAt = performance.now()
  for (const n of numbers(20)) await Promise.all(numbers(10).map(() => send(victim, n)))
  for (const _ of numbers(2)) await Promise.all(numbers(10).map(() => schedule(victim, target.url)))
  await until(() => target.requests.length >= 220, server.out)
  // Behind the dead ones, they would wait for their timeouts of 15 s and more.
  expect(performance.now() - startedAt).toBeLessThan(10_000)
  // Together they call them no more often at a time than one process would: 128 deliveries, 20 jobs.
  expect(dead.requests.length).toBeLessThanOrEqual(128 + 20)
}, 90_000)

test('The processes end with their supervisor, even if it is killed', async () => {
  const { serve } = open()
  const server = await serve()
  const pids = [...processesOf(server).values()]
  await server.kill()
  await until(() => !pids.some(isRunning), server.out, 20_000)
}, 60_000)
