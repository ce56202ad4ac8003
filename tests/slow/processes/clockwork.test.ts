import { beforeAll, expect, test } from 'bun:test'
import { command, compileBinary, type Server, startServer, until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startTarget } from '../../support/target.ts'
import { numbers } from './receiver.ts'

beforeAll(compileBinary, 120_000)

const ARGS = '--outbound-allow 127.0.0.1 --clockwork-tick 1s --clockwork-retry-delays 1s,1s'.split(
  ' ',
)

interface Job {
  id: string
  status: string
}

interface Execution {
  status: string
  attempt: number
  error_message: string | null
}

/** Servers on one data directory, with a client of one tenant. */
async function startServers(count: number) {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const cwd = folder.path
  const start = async () => stack.use(await startServer({ cwd, args: ARGS }))
  const servers = await Promise.all(numbers(count).map(start))
  const cli = async (...args: string[]) =>
    (await command({ cwd, args: [...args, '--json'] })).json()
  const { id } = await cli('tenant', 'create', '--name', 'Acme')
  const { key } = await cli('key', 'create', '--tenant', id, '--engine', 'clockwork')
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const api = `/v1/clockwork/delayed`

  /** Creates jobs through all servers in turn. */
  async function createJobs(count: number, target: string, inMs: number) {
    const run_at = new Date(Math.ceil((Date.now() + inMs) / 1000) * 1000).toISOString()
    const create = async (n: number) => {
      const body = JSON.stringify({ name: `${n}`, run_at, url: `${target}/${n}` })
      const { url } = servers[n % servers.length] as Server
      expect((await fetch(url + api, { method: 'POST', headers, body })).status).toBe(201)
    }
    await Promise.all(numbers(count).map(create))
  }

  async function get<Body>({ url }: Server, path = ''): Promise<Body> {
    return (await (await fetch(url + api + path, { headers })).json()) as Body
  }
  const jobs = (server: Server) => get<Job[]>(server)
  const succeeded = async (server: Server) =>
    (await jobs(server)).filter(({ status }) => status === 'success')

  return {
    servers,
    start,
    createJobs,
    jobs,
    succeeded,
    executions: (server: Server, { id }: Job) => get<Execution[]>(server, `/${id}/executions`),
    /** Waits until no job waits or runs. */
    ended: (server: Server) =>
      until(
        async () => (await jobs(server)).every(({ status }) => /^(success|failed)$/.test(status)),
        server.out,
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test('three processes run each of 500 jobs once', async () => {
  await using target = startTarget()
  await using three = await startServers(3)
  const [first, second, third] = three.servers as [Server, Server, Server]
  await three.createJobs(500, target.url, 2500)
  await three.ended(first)

  const jobs = await three.succeeded(second)
  expect(jobs).toHaveLength(500)
  const calls = Map.groupBy(target.requests, ({ path }) => path)
  expect([calls.size, target.requests.length]).toEqual([500, 500])
  for (const job of jobs.slice(0, 20))
    expect(await three.executions(third, job)).toMatchObject([{ status: 'success', attempt: 1 }])
}, 300_000)

test('kill -9 of all processes loses no job, and the next process repeats what was running', async () => {
  let isSlow = true
  await using target = startTarget(async () => {
    if (isSlow) await Bun.sleep(150)
    return new Response('ok')
  })
  await using three = await startServers(3)
  await three.createJobs(300, target.url, 1500)
  await until(() => target.requests.length >= 60)
  await Promise.all(three.servers.map((server) => server.kill()))
  isSlow = false
  expect(target.requests.length).toBeLessThan(300)

  const survivor = await three.start()
  await three.ended(survivor)
  const jobs = await three.succeeded(survivor)
  expect(jobs).toHaveLength(300)
  expect(new Set(target.requests.map(({ path }) => path)).size).toBe(300)
  const histories = await Promise.all(jobs.map((job) => three.executions(survivor, job)))
  expect(histories.flat().filter(({ status }) => status === 'running')).toEqual([])
  const interrupted = histories.filter((history) => history.length > 1)
  expect(interrupted.length).toBeGreaterThan(0)
  for (const [last, first] of interrupted) {
    expect(first).toMatchObject({ status: 'failed', attempt: 1 })
    expect(first?.error_message).toContain('stopped')
    expect(last).toMatchObject({ status: 'success', attempt: 2 })
  }
}, 300_000)

test('a running process takes over the jobs of a killed one', async () => {
  const never = new Promise<Response>(() => {})
  await using target = startTarget(() => never)
  await using two = await startServers(1)
  const [doomed] = two.servers as [Server]
  await two.createJobs(5, target.url, 100)
  await until(() => target.requests.length === 5, doomed.out)
  const survivor = await two.start()

  target.answers(() => new Response('ok'))
  await doomed.kill()
  await two.ended(survivor)
  expect(await two.succeeded(survivor)).toHaveLength(5)
}, 300_000)
