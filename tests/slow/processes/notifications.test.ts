import { expect, test } from 'bun:test'
import { type Server, until } from '../../support/binary.ts'
import { startTarget, type Target } from '../../support/target.ts'
import { eventId, JOBS, numbers } from '../resilience/support/api.ts'
import { openInstallation } from '../resilience/support/installation.ts'

/** How long after the first failures the server is killed, in milliseconds. */
const KILLS_AFTER = [0, 10, 50]
const JOBS_A_ROUND = 8

test('A failure is announced once whenever the server is killed, and a notice that was being sent is repeated with its id', async () => {
  await using stack = new AsyncDisposableStack()
  const [failing, hooks] = [stack.use(startTarget(500)), stack.use(startTarget())]
  const { done, newClient, newTenant, running, count, rows } = openInstallation(stack)
  const tenant = newTenant()
  const clockwork = newClient(tenant, 'clockwork')
  const url = `url=${hooks.url}`
  await done('channel', 'add', '--tenant', tenant, '--type', 'webhook', '--setting', url)

  /** Creates jobs that soon fail for good. */
  const failNow = (server: Server, total: number): Promise<{ id: string }[]> => {
    const run_at = new Date(Date.now() + 2000).toISOString()
    const job = { name: 'late', url: failing.url, run_at, retry: { max_attempts: 1 } }
    return Promise.all(numbers(total).map(() => clockwork.make(server, 'POST', JOBS, job)))
  }
  const start = async () => (await running(1))[0] as Server
  const allSent = (server: Server, total: number) =>
    until(() => count("notices WHERE state = 'sent'") === total, server.out, 60_000)

  const held = hooks.hold()
  const doomed = await start()
  const [first] = await failNow(doomed, 1)
  await held.arrived(1)
  await doomed.kill()
  hooks.answers(200)

  const jobs = [`job:${first?.id}`]
  for (const ms of KILLS_AFTER) {
    const server = await start()
    const before = failing.requests.length
    jobs.push(...(await failNow(server, JOBS_A_ROUND)).map(({ id }) => `job:${id}`))
    await until(() => failing.requests.length > before, server.out)
    await Bun.sleep(ms)
    await server.kill()
  }
  await allSent(await start(), jobs.length)
  const ids = new Map(hooks.requests.map((request) => [eventId(request), subjectOf(request)]))
  expect([...ids.values()].toSorted()).toEqual(jobs.toSorted())
  expect(subjectsOf(hooks).filter((subject) => subject === jobs[0]).length).toBeGreaterThan(1)
  expect(rows("SELECT * FROM alerts WHERE told <> 'opened' OR count <> 1")).toEqual([])
}, 300_000)

const subjectOf = ({ body }: { body: string }): string => JSON.parse(body).data.subject.id
const subjectsOf = ({ requests }: Target) => requests.map(subjectOf)
