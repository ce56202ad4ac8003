import { expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { retryPolicyOf } from '../../../src/engines/clockwork/retry.ts'
import { HALF_MINUTE, HOUR, MINUTE, SECOND } from '../relay/support.ts'
import {
  advanceWaiting,
  at,
  bootFixture,
  DELAYED,
  JOBS,
  type Json,
  NOON,
  storyOf,
  useClockwork,
} from './support.ts'

const { app, fresh } = await useClockwork()
const SIGNING = '/v1/clockwork/signing-secret'
const MASK = '********'
const MINUTES = [60_000, 300_000]

test.each([
  [null, MINUTES],
  [{ max_attempts: 1 }, []],
  [{ max_attempts: 5 }, [60_000, 300_000, 300_000, 300_000]],
  [{ delays: [0, 10] }, [0, 10_000]],
  [{ max_attempts: 4, delays: [5] }, [5000, 5000, 5000]],
  [{ max_attempts: 2, delays: [5, 6, 7] }, [5000]],
  [{ backoff: { initial_seconds: 10 } }, [10_000, 20_000]],
  [
    { max_attempts: 5, backoff: { initial_seconds: 10, factor: 3, max_seconds: 60 } },
    [10_000, 30_000, 60_000, 60_000],
  ],
  [
    { max_attempts: 3, backoff: { initial_seconds: 604_800, factor: 10 } },
    [604_800_000, 604_800_000],
  ],
])('Retries of %j come after %j ms', (options, delaysMs) => {
  expect(retryPolicyOf(options, MINUTES)).toMatchObject({ delaysMs })
})

test('Retries follow the options of a job of either kind: number, delays, statuses, network errors', async () => {
  const { createJob, createDelayed, executionsOf, clock, target } = await fresh()
  target.answers(({ path }) => new Response('', { status: Number(path.slice(-3)) }))
  const url = (status: number) => `${target.url}/${status}`
  const closed = 'http://127.0.0.1:1/'
  const cases: [object, string, string[]][] = [
    [{ delays: [60, 60, 120] }, url(500), ['12:01:00', '12:02:00', '12:03:00', '12:05:00']],
    [{ max_attempts: 1 }, url(500), ['12:01:00']],
    [{ statuses: [404, '4xx'] }, url(404), ['12:01:00', '12:02:00', '12:07:00']],
    [{ statuses: ['404'] }, url(500), ['12:01:00']],
    [{ on_network_error: false }, closed, ['12:01:00']],
    [{ max_attempts: 2 }, closed, ['12:01:00', '12:02:00']],
  ]
  const jobs: [Json, string[]][] = []
  for (const [retry, url, times] of cases)
    jobs.push(
      [await createJob({ schedule: '1 12 * * *', url, retry }), times],
      [await createDelayed({ url, retry }), times],
    )
  await clock.advance(8 * MINUTE)
  for (const [job, times] of jobs)
    expect(storyOf(await executionsOf(job)).map(([, time]) => time)).toEqual(times)
})

test('A job succeeds with the statuses that it lists, and no others', async () => {
  const { createJob, createDelayed, runNow, executionsOf, clock, target } = await fresh()
  target.answers(({ path }) => new Response(null, { status: Number(path.slice(-3)) }))
  for (const [statuses, status, outcome] of [
    [['2xx', 304], 304, 'success'],
    [['2xx', 304], 204, 'success'],
    [['204'], 200, 'failed'],
    [[404], 404, 'success'],
    [null, 304, 'failed'],
  ] as const)
    for (const create of [createJob, createDelayed]) {
      const job = await create({ url: `${target.url}/${status}`, success_statuses: statuses })
      if (job.run_at === undefined) await runNow(job)
      else await clock.advanceTo(Date.parse(job.run_at))
      await app.clockwork.loop.idle()
      expect(await executionsOf(job)).toMatchObject([{ status: outcome, response_status: status }])
      clock.jump(NOON + HALF_MINUTE - clock.now())
    }
})

test('A job has its own timeout, and a lease that outlives it', async () => {
  await using fixture = await bootFixture({ flags: { 'clockwork-timeout': '5s' } })
  const { app, target, createJob, createDelayed, executionsOf } = fixture
  const held = target.hold()
  const once = { schedule: '1 12 * * *', retry: { max_attempts: 1 } }
  const patient = await createJob({ ...once, timeout_ms: 900_000 })
  const hasty = await createDelayed({ ...once, timeout_ms: 2000 })
  const usual = await createJob(once)
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(3)
  const leases = app.db.client
    .query('select job_id, lease_until as until from runs')
    .all() as Json[]
  const untilOf = ({ id }: Json) => leases.find(({ job_id }) => job_id === id).until - NOON - MINUTE
  expect([patient, hasty, usual].map(untilOf)).toEqual([930_000, 35_000, 35_000])
  const endedAfter = async (job: Json) => (await executionsOf(job))[0].completed_at
  await advanceWaiting(app, 2 * SECOND)
  expect(await endedAfter(hasty)).toBe(at('12:01:02'))
  await advanceWaiting(app, 10 * SECOND)
  expect(await endedAfter(usual)).toBe(at('12:01:05'))
  expect(await endedAfter(patient)).toBeNull()
  await advanceWaiting(app, 5 * MINUTE)
  held.release()
  await app.clockwork.loop.idle()
  expect(await executionsOf(patient)).toMatchObject([{ status: 'success' }])
})

test('Runs that overlap are skipped beyond two, queued one by one, or allowed', async () => {
  await using fixture = await bootFixture({ flags: { 'clockwork-timeout': '15m' } })
  const { app, clock, target, api, createJob, readJob, executionsOf } = fixture
  const held = target.hold()
  const [skip, queue, allow] = [
    await createJob(),
    await createJob({ overlap: 'queue' }),
    await createJob({ overlap: 'allow' }),
  ]
  await advanceWaiting(app, HALF_MINUTE)
  await advanceWaiting(app, 3 * MINUTE)
  await held.arrived(7)
  const started = async (job: Json) => storyOf(await executionsOf(job)).map(([, time]) => time)
  expect(await started(skip)).toEqual(['12:01:00', '12:02:00'])
  expect(await started(queue)).toEqual(['12:01:00'])
  expect(await started(allow)).toEqual(['12:01:00', '12:02:00', '12:03:00', '12:04:00'])
  for (const [job, overlap] of [
    [skip, 2],
    [queue, 2],
    [allow, 0],
  ])
    expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 0, overlap } })
  expect(await api.post(`${JOBS}/${queue.id}/run`)).toMatchObject({
    ...{ status: 409 },
    body: { error: 'a run of this job is already queued; try again when it has started' },
  })
  held.release()
  target.answers(200)
  await app.clockwork.loop.idle()
  await advanceWaiting(app, SECOND)
  await app.clockwork.loop.idle()
  const [second] = await executionsOf(queue)
  expect(second).toMatchObject({ slot_at: at('12:02:00'), status: 'success', attempt: 1 })
  await clock.advanceTo(NOON + 5 * MINUTE)
  expect(await started(queue)).toHaveLength(3)
})

test('A queued run waits for the retries of the one before', async () => {
  const { createJob, executionsOf, clock, target } = await fresh()
  target.answers(500)
  const job = await createJob({ overlap: 'queue', retry: { delays: [120] } })
  await clock.advance(4 * MINUTE)
  const runs = (await executionsOf(job)).map((run: Json) => [
    ...[run.slot_at, run.started_at, run.attempt],
  ])
  expect(runs.toReversed()).toEqual([
    [at('12:01:00'), at('12:01:00'), 1],
    [at('12:01:00'), at('12:03:00'), 2],
    [at('12:02:00'), at('12:03:00'), 1],
  ])
})

test('Tags find jobs, notes are kept, and null or a default resets an option', async () => {
  const { api, createJob, createDelayed, change, readJob } = await fresh()
  const options = {
    ...{
      timeout_ms: 5000,
      retry: { max_attempts: 2 },
      success_statuses: ['2xx'],
      signed: true,
      reuse_connection: true,
    },
    ...{
      overlap: 'allow',
      alert_after: 3,
      tags: ['billing', 'eu:west', 'billing'],
      notes: 'Ask Ada\nfirst',
    },
  }
  const job = await createJob(options)
  expect(job).toMatchObject({ ...options, tags: ['billing', 'eu:west'] })
  const delayed = await createDelayed({ tags: ['eu:west'] })
  await createJob({ tags: ['other'] })
  for (const [path, tag, found] of [
    [JOBS, 'billing', [job.id]],
    [JOBS, 'eu', []],
    [DELAYED, 'eu:west', [delayed.id]],
    [DELAYED, 'billing', []],
  ] as const) {
    const { body } = await api.get(`${path}?tag=${encodeURIComponent(tag)}`)
    expect(body.map(({ id }: Json) => id)).toEqual(found)
  }
  const reset = {
    ...{
      timeout_ms: null,
      retry: null,
      success_statuses: null,
      signed: false,
      reuse_connection: false,
    },
    ...{ overlap: 'skip', alert_after: 1, tags: [], notes: null },
  }
  expect(await change(job, reset)).toMatchObject(reset)
  expect(await readJob(job)).toMatchObject(reset)
})

test.each<[object, string]>([
  [{ timeout_ms: 999 }, 'timeout_ms'],
  [{ timeout_ms: 900_001 }, 'timeout_ms'],
  [{ retry: { max_attempts: 21 } }, 'retry.max_attempts'],
  [{ retry: { delays: [-1] } }, 'retry.delays'],
  [{ retry: { delays: [1], backoff: { initial_seconds: 1 } } }, 'retry: must not have both'],
  [{ retry: { statuses: ['6xx'] } }, 'retry.statuses'],
  [{ success_statuses: [] }, 'success_statuses'],
  [{ success_statuses: [99] }, 'success_statuses'],
  [{ tags: Array(11).fill('a') }, 'tags'],
  [{ tags: ['no spaces'] }, 'tags'],
  [{ notes: 'x'.repeat(2001) }, 'notes'],
  [{ deduplication_id: '' }, 'deduplication_id'],
  [{ secret_headers: { 'X Y': 'a' } }, 'secret_headers: must have names of'],
  [{ secret_headers: { 'X-Key': MASK } }, 'secret_headers.X-Key: must have a value'],
])('%j is refused, naming the field', async (fields, error) => {
  const { api, target } = await fresh()
  for (const [path, rest] of [
    [JOBS, { schedule: '* * * * *' }],
    [DELAYED, { run_at: at('12:05:00') }],
  ] as const) {
    const answer = await api.post(path, { name: 'a', url: target.url, ...rest, ...fields })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(error)])
  }
  for (const wrong of [{ overlap: 'x' }, { alert_after: 0 }, { alert_after: 101 }])
    expect(
      await api.post(JOBS, { name: 'a', url: target.url, schedule: '* * * * *', ...wrong }),
    ).toMatchObject({ status: 400 })
})

test('A create with the deduplication id of a job answers with that job, as long as it exists', async () => {
  const { api, acme, target, clock, listJobs, listDelayed } = await fresh()
  const other = await app.tenant('Other')
  for (const [path, list, rest] of [
    [JOBS, listJobs, { schedule: '* * * * *' }],
    [DELAYED, listDelayed, { run_at: at('12:05:00') }],
  ] as const) {
    const fields = { name: 'first', url: target.url, deduplication_id: 'order 1', ...rest }
    const { status, body: first } = await api.post(path, fields)
    expect([status, first.deduplication_id]).toEqual([201, 'order 1'])
    await clock.advance(1000)
    // Not even valid, as a time that has passed meanwhile.
    const again = { ...fields, name: 'second', url: 'http://10.0.0.1/', run_at: at('11:00:00') }
    expect(await api.post(path, again)).toMatchObject({ status: 200, body: first })
    expect(await list()).toEqual([first])
    expect(await other.api.post(path, fields)).toMatchObject({ status: 201 })
    const both = await Promise.all(
      [1, 2].map(() => api.post(path, { ...fields, deduplication_id: '2' })),
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 201])
    expect(both[0]?.body.id).toBe(both[1]?.body.id)
  }
  const [job] = (await listJobs()).toReversed()
  await api.delete(`${JOBS}/${job.id}`)
  const fields = { name: 'a', url: target.url, schedule: '* * * * *', deduplication_id: 'order 1' }
  expect(await api.post(JOBS, fields)).toMatchObject({ status: 201 })
  expect(acme.id).not.toBe(other.id)
})

const secret_headers = { 'X-Team': 'team-secret-value', Authorization: 'Bearer abcdefgh-1234' }
const masked = { 'X-Team': MASK, Authorization: MASK }

/** All text in the tables of the scheduler. */
const stored = () =>
  JSON.stringify(
    ['cron_jobs', 'delayed_jobs', 'runs', 'executions', 'job_signing_secrets'].map((table) =>
      app.db.client.query(`select * from ${table}`).all(),
    ),
  )

test('Secret headers are sent, but neither stored nor answered in clear, nor repeated by an execution', async () => {
  const fixture = await fresh()
  const { createJob, createDelayed, change, readJob, listJobs, executionsOf } = fixture
  const { clock, target, runNow } = fixture
  target.answers(({ headers }) => new Response(`got ${headers.get('x-team')}`, { status: 500 }))
  const headers = { 'x-team': 'plain', 'X-Other': 'plain' }
  const job = await createJob({ schedule: '1 12 * * *', headers, secret_headers })
  const delayed = await createDelayed({ secret_headers })
  for (const one of [job, delayed, await readJob(job), ...(await listJobs())])
    expect(one.secret_headers).toEqual(masked)
  await clock.advance(HALF_MINUTE)
  expect(target.requests.map(({ headers }) => headers.get('x-team'))).toEqual(
    Array(2).fill('team-secret-value'),
  )
  for (const one of [job, delayed])
    expect(await executionsOf(one)).toMatchObject([{ response_body: `got ${MASK}` }])
  const kept = { 'X-Team': MASK, 'X-New': 'new' }
  expect((await change(job, { secret_headers: kept })).secret_headers).toEqual({
    ...{ 'X-Team': MASK, 'X-New': MASK },
  })
  expect(stored()).not.toMatch(/team-secret|abcdefgh/)
  // The retry repeats the request; the next run has the new headers.
  await clock.advance(MINUTE)
  const sentBy = (index: number) =>
    ['x-team', 'authorization', 'x-new', 'x-other'].map((name) =>
      target.requests.at(index)?.headers.get(name),
    )
  const retried = target.requests.slice(2).map(({ headers }) => headers.get('authorization'))
  expect(retried).toEqual(Array(2).fill('Bearer abcdefgh-1234'))
  await runNow(job)
  await app.clockwork.loop.idle()
  expect(sentBy(-1)).toEqual(['team-secret-value', null, 'new', 'plain'])
  expect((await change(job, { secret_headers: {} })).secret_headers).toEqual({})
})

test('A test receiver masks secret headers', async () => {
  const { acme, createJob, runNow } = await fresh()
  const url = app.platform.testReceivers.urlOf(acme.id, 'jobs')
  const job = await createJob({ url, secret_headers: { 'X-Team': 'a' }, headers: { 'X-B': 'b' } })
  await runNow(job)
  await app.clockwork.loop.idle()
  const [received] = app.platform.testReceivers.requests(acme.id, 'jobs')
  expect(received?.headers).toMatchObject({ 'X-Team': MASK, 'X-B': 'b' })
})

test('Requests of a job have a new connection unless it reuses them', async () => {
  const { createJob, runNow, target } = await fresh()
  for (const [reuse_connection, opened, header] of [
    [false, 2, 'close'],
    [true, 1, 'keep-alive'],
  ] as const) {
    const before = app.platform.outbound.connections().opened
    const job = await createJob({ reuse_connection })
    for (let n = 0; n < 2; n++) {
      await runNow(job)
      await app.clockwork.loop.idle()
    }
    expect(app.platform.outbound.connections().opened - before).toBe(opened)
    expect(target.requests.at(-1)?.headers.get('connection')).toBe(header)
  }
})

test('Signed requests verify by Standard Webhooks, with one id for all attempts and two secrets in turn', async () => {
  const { api, createJob, createDelayed, executionsOf, clock, target } = await fresh()
  const none = { secret: null, previous_expires_at: null }
  expect(await api.get(SIGNING)).toMatchObject({ status: 200, body: none })
  target.answers(500)
  const options = { signed: true, headers: { 'Webhook-Id': 'mine' }, retry: { delays: [60] } }
  const job = await createJob({ schedule: '1 12 * * *', body: 'Zoë', ...options })
  await createDelayed({ body: null, ...options })
  await createJob({ schedule: '1 12 * * *' })
  const { body: first } = await api.get(SIGNING)
  expect(first).toEqual({ secret: expect.stringMatching(/^whsec_/), previous_expires_at: null })
  await clock.advance(HALF_MINUTE)
  const rotated = (await api.post(`${SIGNING}/rotate`, { grace_seconds: 3600 })).body
  expect(rotated.secret).not.toBe(first.secret)
  expect((await api.get(SIGNING)).body).toEqual({
    ...{ secret: rotated.secret, previous_expires_at: at('13:00:30').replace('00:30', '01:00') },
  })
  await clock.advance(MINUTE)
  const signed = target.requests.filter(({ headers }) => headers.has('webhook-signature'))
  expect([target.requests.length, signed.length]).toEqual([6, 4])
  const ids = signed.map(({ headers }) => headers.get('webhook-id'))
  expect(new Set(ids).size).toBe(2)
  expect(ids).not.toContain('mine')
  expect((await executionsOf(job)).map(({ id }: Json) => id)).not.toContain(ids[0])
  for (const { body, headers } of signed) {
    const sentAt = Number(headers.get('webhook-timestamp')) * 1000
    const isRetry = headers.get('x-clockwork-attempt') === '2'
    expect(sentAt).toBe(NOON + (isRetry ? 2 : 1) * MINUTE)
    for (const secret of isRetry ? [first.secret, rotated.secret] : [first.secret])
      expect(verified(secret, body, headers)).toBe(true)
    if (!isRetry) expect(verified(rotated.secret, body, headers)).toBe(false)
  }
  await clock.advance(2 * HOUR)
  expect((await api.get(SIGNING)).body).toMatchObject({ previous_expires_at: null })
})

/** Whether a request has a valid signature. Its time is not checked, because the clock is turned. */
function verified(secret: string, body: string, headers: Headers): boolean {
  const webhook = new Webhook(secret)
  const id = headers.get('webhook-id') ?? ''
  const timestamp = new Date(Number(headers.get('webhook-timestamp')) * 1000)
  const signature = webhook.sign(id, timestamp, body)
  return (headers.get('webhook-signature') ?? '').split(' ').includes(signature)
}

test('A secret that cannot be decrypted fails a signed job with the reason, until it is rotated', async () => {
  const { api, acme, createJob, executionsOf, clock, target } = await fresh()
  const job = await createJob({ signed: true, retry: { max_attempts: 1 } })
  app.db.client.run(`update job_signing_secrets set secrets = 'x' where tenant_id = ?`, [acme.id])
  await clock.advance(HALF_MINUTE)
  expect(target.requests).toEqual([])
  const error_message = expect.stringContaining('rotate the signing secret')
  expect(await executionsOf(job)).toMatchObject([{ status: 'failed', error_message }])
  const none = { secret: null, previous_expires_at: null }
  expect((await api.get(SIGNING)).body).toEqual(none)
  await api.post(`${SIGNING}/rotate`, {})
  await clock.advance(MINUTE)
  expect(target.requests).toHaveLength(1)
})

test('Secret headers that cannot be decrypted are replaced by new ones, but not kept by a mask', async () => {
  const { api, createJob } = await fresh()
  const job = await createJob({ secret_headers: { 'X-Key': 'a' } })
  const unreadable = JSON.stringify({ names: ['X-Key'], sealed: 'x' })
  app.db.client.run('update cron_jobs set secret_headers = ? where id = ?', [unreadable, job.id])
  const put = (value: string) =>
    api.patch(`${JOBS}/${job.id}`, { secret_headers: { 'X-Key': value } })
  expect(await put(MASK)).toMatchObject({ status: 400 })
  expect(await put('b')).toMatchObject({ status: 200 })
  expect(await put(MASK)).toMatchObject({ status: 200 })
})
