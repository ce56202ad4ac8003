import { expect, test } from 'bun:test'
import { type Server, until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { JOBS, numbers } from '../resilience/support/api.ts'
import { openInstallation } from '../resilience/support/installation.ts'

interface Job {
  id: string
  status: string
}

test('Processes run each job once; jobs of killed ones are repeated by those that run or start, and none is lost', async () => {
  await using stack = new AsyncDisposableStack()
  const never = () => new Promise<Response>(() => {})
  const target = stack.use(startTarget(never))
  const { newClient, newTenant, running, count } = openInstallation(stack)
  const clockwork = newClient(newTenant(), 'clockwork')

  /** Creates jobs that are due soon through the servers in turn. */
  async function createJobs(servers: Server[], prefix: string, total: number): Promise<Job[]> {
    const run_at = new Date(Date.now() + 1500).toISOString()
    const create = (n: number) => {
      const job = { name: `${n}`, run_at, url: `${target.url}/${prefix}/${n}` }
      return clockwork.make(servers[n % servers.length] as Server, 'POST', JOBS, job)
    }
    return await Promise.all(numbers(total).map(create))
  }
  const ended = ({ out }: Server, total: number) =>
    until(() => count("delayed_jobs WHERE status = 'success'") === total, out)
  const asked = (prefix: string) =>
    target.requests.filter(({ path }) => path.startsWith(`/hook/${prefix}/`))
  async function expectRepeated(server: Server, jobs: Job[]) {
    for (const { id } of jobs) {
      const history = await clockwork.make(server, 'GET', `${JOBS}/${id}/executions`)
      const stopped = {
        status: 'failed',
        attempt: 1,
        error_message: expect.stringContaining('stopped'),
      }
      expect(history).toMatchObject([{ status: 'success', attempt: 2 }, stopped])
    }
  }

  const [doomed] = (await running(1)) as [Server]
  const held = await createJobs([doomed], 'held', 10)
  await until(() => asked('held').length === 10, doomed.out)
  const others = (await running(3)).filter((server) => server !== doomed)
  const [second, third] = others as [Server, Server]
  target.answers(() => new Response('ok'))
  await doomed.kill()
  await ended(second, 10)
  await expectRepeated(third, held)

  const once = await createJobs(others, 'once', 60)
  await ended(second, 70)
  expect(new Set(asked('once').map(({ path }) => path)).size).toBe(60)
  expect(asked('once')).toHaveLength(60)
  const history = await clockwork.make(third, 'GET', `${JOBS}/${once[0]?.id}/executions`)
  expect(history).toMatchObject([{ status: 'success', attempt: 1 }])

  target.answers(never)
  const late = await createJobs(others, 'late', 10)
  await until(() => asked('late').length === 10, second.out)
  target.answers(() => new Response('ok'))
  await Promise.all(others.map((server) => server.kill()))
  const [survivor] = (await running(1)) as [Server]
  await ended(survivor, 80)
  await expectRepeated(survivor, late)
  expect(await clockwork.make(survivor, 'GET', JOBS)).toHaveLength(80)
  expect(count("runs WHERE state = 'leased'")).toBe(0)
}, 300_000)
