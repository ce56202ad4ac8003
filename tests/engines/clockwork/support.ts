import { afterAll, expect } from 'bun:test'
import { bootTestApp, type TestApp, type TestAppOptions, useApp } from '../../support/app.ts'
import { startTarget, type Target } from '../../support/target.ts'
import { HALF_MINUTE } from '../relay/support.ts'

export const JOBS = '/v1/clockwork/jobs'
export const DELAYED = '/v1/clockwork/delayed'

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
export type Json = any
type WithId = { id: string }
type Api = Awaited<ReturnType<TestApp['tenant']>>['api']

/** Half a minute before a tick: 12:00:30 on a Sunday. */
export const NOON = Date.parse('2026-03-01T12:00:00.000Z')

/** `12:01:00` of the day on which the tests begin. */
export const at = (time: string): string => `2026-03-01T${time}.000Z`

export type Fixture = Omit<Awaited<ReturnType<typeof bootFixture>>, 'end' | symbol>

/** An application with one tenant, and one target for its jobs to call. */
export async function bootFixture(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const target = startTarget()
  const acme = await app.tenant('Acme')

  async function end() {
    await target.stop()
    await app.stop()
  }

  const jobs = jobsOf(acme.api, target.url)
  return { app, clock: app.clock, target, acme, ...jobs, end, [Symbol.asyncDispose]: end }
}

/** What a job has without options. */
export const NO_OPTIONS = {
  ...{
    timeout_ms: null,
    retry: null,
    success_statuses: null,
    secret_headers: {},
    signed: false,
    reuse_connection: false,
  },
  ...{ tags: [], notes: null, deduplication_id: null },
}

const TABLES = ['runs', 'executions', 'skipped_slots', 'cron_jobs', 'delayed_jobs', 'job_counts']

/**
 * The scheduler of a test file, booted once. With `fresh` it is 12:00:30 again, there are no jobs,
 * and there is a new tenant.
 */
export async function useClockwork(options: TestAppOptions = {}) {
  const app = await useApp(options)
  const { clock, db } = app
  const target = startTarget()
  afterAll(() => target.stop())

  async function fresh(): Promise<Fixture> {
    await app.clockwork.loop.idle()
    for (const table of [...TABLES, 'clockwork_hours']) db.client.run(`delete from ${table}`)
    clock.jump(NOON + HALF_MINUTE - clock.now())
    target.requests.length = 0
    target.answers(() => new Response('ok'))
    const acme = await app.tenant('Acme')
    return { app, clock, target, acme, ...jobsOf(acme.api, target.url) }
  }

  return { app, fresh }
}

/** The jobs of one tenant, made with what a test does not care about filled in. */
export function jobsOf(api: Api, url: string) {
  async function call(status: number, method: keyof Api, path: string, body?: Json): Promise<Json> {
    const answer = await api[method](path, body)
    expect(answer).toMatchObject({ status })
    return answer.body
  }

  const read = (path: string) => call(200, 'get', path)

  return {
    api,
    /** Runs every minute unless told otherwise. */
    createJob: (fields: Json = {}) =>
      call(201, 'post', JOBS, { name: 'report', schedule: '* * * * *', url, ...fields }),
    /** Runs at the first tick, 12:01:00. */
    createDelayed: (fields: Json = {}) =>
      call(201, 'post', DELAYED, { name: 'reminder', run_at: at('12:01:00'), url, ...fields }),
    listJobs: () => read(JOBS),
    listDelayed: () => read(DELAYED),
    readJob: ({ id }: WithId) => read(`${JOBS}/${id}`),
    readDelayed: ({ id }: WithId) => read(`${DELAYED}/${id}`),
    /** Newest first. */
    executionsOf: (job: WithId & { run_at?: string }) =>
      read(`${job.run_at === undefined ? JOBS : DELAYED}/${job.id}/executions`),
    change: ({ id }: WithId, fields: Json) => call(200, 'patch', `${JOBS}/${id}`, fields),
    runNow: ({ id }: WithId) => call(202, 'post', `${JOBS}/${id}/run`),
  }
}

/** Lets everything that was set off do what it can without an answer from a target. */
export async function breathe({ db }: Pick<TestApp, 'db'>) {
  for (let turn = 0; turn < 5; turn++) await db.commit(() => undefined)
}

/** Turns the clock although a target still owes its answer. */
export async function advanceWaiting(app: Pick<TestApp, 'db' | 'clock'>, ms: number) {
  const { clock } = app
  const { settled } = clock
  clock.settled = () => breathe(app)
  await clock.advance(ms)
  clock.settled = settled
}

/** Lets a target keep its callers waiting until the test gives them their answers. */
export const holdAnswers = ({ hold }: Pick<Target, 'hold'>) => hold()

/** Writes down `n` executions of a job from before the tests begin, the first of them failed. */
export function writeHistory(
  { app: { db }, acme }: Pick<Fixture, 'app' | 'acme'>,
  job: WithId,
  n: number,
  failures = 0,
) {
  db.client.run(
    `with recursive one(i) as (select 0 union all select i + 1 from one where i + 1 < ?1)
     insert into executions
       (id, tenant_id, job_id, trigger, status, attempt, slot_at, lateness_ms, started_at)
     select ?2 || i, ?3, ?2, 'schedule', iif(i < ?4, 'failed', 'success'), 1, ?5 - (?1 - i) * 60000,
       0, ?5 - (?1 - i) * 60000 from one`,
    [n, job.id, acme.id, failures, NOON],
  )
}

/** `[attempt, when, status]` of each execution, oldest first. */
export const storyOf = (executions: { attempt: number; started_at: string; status: string }[]) =>
  executions
    .map(({ attempt, started_at, status }) => [attempt, started_at.slice(11, 19), status])
    .reverse()
