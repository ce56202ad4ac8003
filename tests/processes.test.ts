import { beforeAll, expect, test } from 'bun:test'
import { command, compileBinary, type Server, startServer, until } from './support/binary.ts'
import { temporaryFolder } from './support/folder.ts'
import { startTarget } from './support/target.ts'

beforeAll(compileBinary, 120_000)

const ARGS = [
  '--outbound-allow',
  '127.0.0.1',
  '--clockwork-tick',
  '1s',
  '--clockwork-retry-delays',
  '1s,1s',
]

async function newKey(cwd: string): Promise<string> {
  const cli = async (...args: string[]) =>
    (await command({ cwd, args: [...args, '--json'] })).json()
  const { id } = await cli('tenant', 'create', '--name', 'Acme')
  return (await cli('key', 'create', '--tenant', id, '--engine', 'clockwork')).key
}

interface DelayedJob {
  id: string
  name: string
  status: string
}

/** Speaks to one of the processes; they all answer for the same data. */
function client(key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

  async function createJobs(servers: Server[], count: number, url: string, inMs: number) {
    const runAt = new Date(Math.ceil((Date.now() + inMs) / 1000) * 1000).toISOString()
    const create = async (n: number) => {
      const body = JSON.stringify({ name: `${n}`, run_at: runAt, url: `${url}/${n}` })
      const server = servers[n % servers.length] as Server
      const { status } = await fetch(`${server.url}/v1/clockwork/delayed`, {
        method: 'POST',
        headers,
        body,
      })
      expect(status).toBe(201)
    }
    await Promise.all(Array.from({ length: count }, (_, n) => create(n)))
  }

  const jobs = async (server: Server) =>
    (await (await fetch(`${server.url}/v1/clockwork/delayed`, { headers })).json()) as DelayedJob[]

  const executions = async (server: Server, { id }: DelayedJob) =>
    (await (
      await fetch(`${server.url}/v1/clockwork/delayed/${id}/executions`, { headers })
    ).json()) as { status: string; attempt: number; error_message: string | null }[]

  return { createJobs, jobs, executions }
}

const hasEnded = ({ status }: DelayedJob) => status === 'success' || status === 'failed'

test('three processes on one data directory call each of 500 targets exactly once', async () => {
  using folder = temporaryFolder()
  await using target = startTarget()
  const launch = { cwd: folder.path, args: ARGS }
  await using first = await startServer(launch)
  await using second = await startServer(launch)
  await using third = await startServer(launch)
  const api = client(await newKey(folder.path))

  await api.createJobs([first, second, third], 500, target.url, 2500)
  await until(async () => (await api.jobs(first)).every(hasEnded), first.out)

  const jobs = await api.jobs(second)
  expect(jobs.filter(({ status }) => status === 'success')).toHaveLength(500)
  const calls = Map.groupBy(target.requests, ({ path }) => path)
  expect(calls.size).toBe(500)
  expect([...calls.values()].filter((requests) => requests.length !== 1)).toEqual([])
  for (const job of jobs.slice(0, 20))
    expect(await api.executions(third, job)).toMatchObject([{ status: 'success', attempt: 1 }])
}, 300_000)

test('kill -9 of all processes in mid-run loses no job and leaves none running', async () => {
  using folder = temporaryFolder()
  let isSlow = true
  await using target = startTarget(async () => {
    if (isSlow) await Bun.sleep(150)
    return new Response('ok')
  })
  const launch = { cwd: folder.path, args: ARGS }
  const servers = await Promise.all([startServer(launch), startServer(launch), startServer(launch)])
  const api = client(await newKey(folder.path))
  await api.createJobs(servers, 300, target.url, 1500)

  await until(() => target.requests.length >= 60)
  await Promise.all(servers.map((server) => server.kill()))
  isSlow = false
  const before = target.requests.length
  expect(before).toBeLessThan(300)

  await using survivor = await startServer(launch)
  await until(async () => (await api.jobs(survivor)).every(hasEnded), survivor.out)

  const jobs = await api.jobs(survivor)
  expect(jobs.filter(({ status }) => status === 'success')).toHaveLength(300)
  const called = new Set(target.requests.map(({ path }) => path))
  expect(called.size).toBe(300)
  const histories = await Promise.all(jobs.map((job) => api.executions(survivor, job)))
  expect(histories.flat().filter(({ status }) => status === 'running')).toEqual([])
  const interrupted = histories.filter((history) => history.length > 1)
  expect(interrupted.length).toBeGreaterThan(0)
  for (const [last, first] of interrupted as [never, never][]) {
    expect(first).toMatchObject({
      status: 'failed',
      attempt: 1,
      error_message: expect.stringContaining('stopped'),
    })
    expect(last).toMatchObject({ status: 'success', attempt: 2 })
  }
}, 300_000)

test('a survivor takes over the work of a killed process while it runs itself', async () => {
  using folder = temporaryFolder()
  const never = new Promise<Response>(() => {})
  let answer: () => Response | Promise<Response> = () => never
  await using target = startTarget(() => answer())
  const launch = { cwd: folder.path, args: ARGS }
  const doomed = await startServer(launch)
  const api = client(await newKey(folder.path))
  await api.createJobs([doomed], 5, target.url, 100)
  await until(() => target.requests.length === 5, doomed.out)
  await using survivor = await startServer(launch)

  answer = () => new Response('ok')
  await doomed.kill()

  await until(async () => (await api.jobs(survivor)).every(hasEnded), survivor.out)
  expect((await api.jobs(survivor)).filter(({ status }) => status === 'success')).toHaveLength(5)
}, 300_000)
