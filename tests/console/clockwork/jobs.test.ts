import { expect, test } from 'bun:test'
import { HOUR, MINUTE, UNKNOWN_ID, useConsole } from '../fixture.ts'

const JOBS = '/jobs'
const DELAYED = '/delayed'
const headers = { 'X-Token': 'abc' }

const app = await useConsole()

async function withJob(fields: object = {}) {
  const acme = await app.newTenant()
  const jobId = await acme.job(fields)
  const path = `${JOBS}/${jobId}`
  return {
    ...acme,
    jobId,
    path,
    stored: async () => (await acme.api.get(`/v1/clockwork/jobs/${jobId}`)).body,
    see: (query = '') => acme.owner.open(path + query),
    [Symbol.asyncDispose]: async () => void (await acme.owner.send(`${path}/delete`)),
  }
}

const typed = (url: string, fields: Record<string, string> = {}) => ({
  name: 'report',
  schedule: '* * * * *',
  url,
  method: 'POST',
  headers: 'X-Token: abc',
  body: '{"a":1}',
  ...fields,
})

test('The list of jobs says what failed, and finds jobs by state, name and URL', async () => {
  const { owner, job, target } = await app.newTenant()
  await owner.sees(JOBS, "/v1/clockwork/jobs'", '$GATEHOUSE_KEY')
  const nightly = await job({ name: 'nightly' })
  const broken = await job({ name: 'broken', url: new URL('/no', target.url).href })
  const resting = await job({ name: 'resting', is_active: false })
  target.fails(500, '/no')
  await app.clock.advance(MINUTE)
  const list = await owner.sees(JOBS, 'Every minute')
  list.says('1 of 3 jobs failing; 1 attempt failed in the last 24 hours')
  list.says('including delayed jobs: 1 succeeded, 1 failed')
  for (const [query, found] of [
    ['', [nightly, broken, resting]],
    ['state=failing', [broken]],
    ['state=paused', [resting]],
    ['q=NIGHT', [nightly]],
    ['q=/NO', [broken]],
  ] as const) {
    const { rows } = await owner.open(`${JOBS}?${query}`)
    expect([query, rows]).toEqual([query, found.toReversed()])
  }
  for (const id of [nightly, broken]) await owner.press(`${JOBS}/${id}`, 'Delete job')
})

test('A new job is created as it was typed, and runs', async () => {
  const { id, owner, target } = await app.newTenant()
  const fields = typed(target.url, { body: 'one\r\ntwo', is_active: 'true' })
  const page = await owner.press(`${JOBS}/new`, 'Create job', fields)
  const [job] = app.clockwork.jobs.list(id)
  expect(job).toMatchObject({ name: 'report', headers, body: 'one\ntwo', is_active: true })
  expect(owner.audited('job.created')).toEqual([`job:${job?.id}`])
  page.says('Runs every minute, next run')
  await app.clock.advance(MINUTE)
  expect(target.requests.map(({ body }) => body)).toEqual(['one\ntwo'])
  await owner.press(`${JOBS}/${job?.id}`, 'Delete job')
})

test('A new job has a preview of its schedule, which saves nothing, and may be a copy', async () => {
  const { id, owner, target } = await app.newTenant()
  const preview = (fields: Record<string, string>) =>
    owner.send(`${JOBS}/new`, typed(target.url, { intent: 'preview', ...fields }))
  const page = await preview({ schedule: '0 3 31 * *', url: 'http://10.0.0.1/' })
  expect([page.status, page.html.match(/<li>[^<]*03:00 UTC/g)?.length]).toEqual([200, 5])
  page.says('URL must be publicly reachable', 'value="0 3 31 * *"')
  const refused = await preview({ schedule: 'no' })
  expect([refused.status, refused.wrong]).toEqual([422, ['schedule', 'preview']])
  expect(app.clockwork.jobs.list(id)).toEqual([])
  await using job = await withJob({ headers, is_active: false })
  const copy = `${JOBS}/new?from=${job.jobId}`
  await job.owner.sees(copy, 'value="report (copy)"', 'value="* * * * *"', 'X-Token: abc')
  expect((await owner.open(copy)).status).toBe(404)
})

test('A form shows and keeps the time zone of its job, with runs also in the zone of the tenant', async () => {
  const { id, owner, target } = await app.newTenant()
  await owner.send('/settings', { name: 'Acme', time_zone: 'Asia/Tokyo' })
  const create = `${JOBS}/new`
  const form = await owner.sees(create, 'name="time_zone"', 'value="UTC"')
  expect(form.html).toMatch(/<datalist[^>]*><option value="Asia\/Tokyo">/)
  const fields = typed(target.url, { schedule: '30 2 * * *', time_zone: 'Europe/Berlin' })
  const preview = await owner.send(create, { ...fields, intent: 'preview' })
  preview.says('Runs at 02:30 Europe/Berlin every day')
  expect(preview.html).toMatch(/02:30 GMT[+]1 <span class="hint">[^<]* 10:30 GMT[+]9</)
  const wrong = await owner.send(create, { ...fields, schedule: 'no', time_zone: 'Mars' })
  expect(wrong.wrong).toEqual(['schedule', 'time_zone'])
  await owner.press(create, 'Create job', { ...fields, is_active: 'true' })
  const [job] = app.clockwork.jobs.list(id)
  expect(job).toMatchObject({ schedule: '30 2 * * *', time_zone: 'Europe/Berlin' })
  const path = `${JOBS}/${job?.id}`
  await owner.sees(path, '02:30 Europe/Berlin', '02:30 GMT+1')
  await owner.sees(JOBS, 'At 02:30 Europe/Berlin every day')
  const edited = { ...fields, time_zone: 'America/New_York' }
  await owner.press(`${path}/edit`, 'Save job', edited)
  expect(app.clockwork.jobs.list(id)).toMatchObject([{ time_zone: 'America/New_York' }])
  await owner.press(path, 'Delete job')
})

const DEDUPLICATED = { deduplication_id: 'one' }

const OPTIONS = {
  ...{
    secret_headers: 'X-Key: hidden-value',
    signed: 'true',
    reuse_connection: 'true',
    timeout_ms: '5000',
  },
  ...{ success_statuses: '2xx, 304', retry: 'backoff', max_attempts: '5', initial_seconds: '10' },
  ...{ factor: '3', max_seconds: '', retry_statuses: '5xx 409', on_network_error: 'true' },
  ...{ overlap: 'queue', alert_after: '3', tags: 'billing, eu', notes: 'Ask Ada' },
}

test('The form of a job sets, shows and keeps every option, but shows no secret', async () => {
  const { id, owner, target } = await app.newTenant()
  const create = `${JOBS}/new`
  const fields = typed(target.url, { ...OPTIONS, headers: '', is_active: 'true' })
  await owner.press(create, 'Create job', { ...fields, ...DEDUPLICATED })
  const [job] = app.clockwork.jobs.list(id)
  const retry = { max_attempts: 5, backoff: { initial_seconds: 10, factor: 3 } }
  const options = {
    ...{
      timeout_ms: 5000,
      success_statuses: ['2xx', 304],
      signed: true,
      reuse_connection: true,
      notes: 'Ask Ada',
    },
    ...{ retry: { ...retry, statuses: ['5xx', 409] }, secret_headers: { 'X-Key': '********' } },
    ...{ overlap: 'queue', alert_after: 3, tags: ['billing', 'eu'], ...DEDUPLICATED },
  }
  expect(job).toMatchObject(options)
  const path = `${JOBS}/${job?.id}`
  const shown = await owner.sees(path, '5 attempts, backoff from 10.0 s', 'Ask Ada', 'X-Key')
  shown.omits('hidden-value')
  const form = await owner.sees(`${path}/edit`, 'X-Key: ********', 'value="2xx, 304"')
  form.omits('hidden-value')
  const unchanged = { ...fields, secret_headers: 'X-Key: ********' }
  expect((await owner.send(`${path}/edit`, unchanged)).location).toEndWith('.unchanged')
  await owner.send(`${path}/edit`, { ...unchanged, retry: 'none', tags: '' })
  expect(app.clockwork.jobs.list(id)).toMatchObject([
    { ...options, retry: { max_attempts: 1 }, tags: [] },
  ])
  for (const [wrong, name] of [
    [{ timeout_ms: '1' }, 'timeout_ms'],
    [{ alert_after: '0' }, 'alert_after'],
    [{ tags: 'a, b!' }, 'tags'],
    [{ retry: 'delays', delays: '60, soon' }, 'delays'],
    [{ retry: 'backoff', initial_seconds: '' }, 'initial_seconds'],
    [{ retry_statuses: '700' }, 'retry_statuses'],
    [{ secret_headers: 'nonsense' }, 'secret_headers'],
    [{ success_statuses: 'ok' }, 'success_statuses'],
  ] as const) {
    const answer = await owner.send(create, { ...fields, ...wrong })
    expect([wrong, answer.wrong]).toEqual([wrong, [name]])
    answer.says('<details class="fold options" open').omits('hidden-value')
  }
  await owner.press(path, 'Delete job')
})

test('The list of jobs is filtered by a tag', async () => {
  const { owner, job } = await app.newTenant()
  const tagged = await job({ name: 'tagged', tags: ['billing'] })
  await job({ name: 'other' })
  await owner.sees(JOBS, 'Every minute · billing', '<option value="billing">')
  expect((await owner.open(`${JOBS}?tag=billing`)).rows).toEqual([tagged])
})

test('The signing secret of jobs is shown and rotated by members, once there is one', async () => {
  const { id: tenantId, owner, api, job } = await app.newTenant()
  const path = `${JOBS}/signing-secret`
  await owner.sees(path, 'The first signed job creates it.')
  const id = await job({ signed: true, is_active: false })
  const { secret } = (await api.get('/v1/clockwork/signing-secret')).body
  await owner.sees(path, secret)
  const page = await owner.press(path, 'Rotate secret', { grace: 'week' })
  const next = (await api.get('/v1/clockwork/signing-secret')).body.secret
  expect(next).not.toBe(secret)
  page.says(next, 'The old secret also signs until').omits(secret)
  expect(owner.audited('jobs.secret_rotated')).toHaveLength(1)
  app.db.client.run(`update job_signing_secrets set secrets = 'damaged' where tenant_id = ?`, [
    tenantId,
  ])
  ;(await owner.sees(path, "The secret can't be decrypted")).omits('Show secret')
  await owner.press(path, 'Rotate secret', { grace: 'week' })
  const repaired = (await api.get('/v1/clockwork/signing-secret')).body
  expect(repaired).toEqual({ secret: expect.stringContaining('whsec_'), previous_expires_at: null })
  await owner.press(`${JOBS}/${id}`, 'Delete job')
})

test('A preset makes the cron expression, and its form shows the same preset again', async () => {
  const { owner, target } = await app.newTenant()
  const create = `${JOBS}/new`
  await owner.sees(create, 'Runs every 5 minutes', '<code>*/5 * * * *</code>')
  for (const [fields, schedule] of [
    [{ repeat: 'minutes', every: '1' }, '* * * * *'],
    [{ repeat: 'minutes', every: '15' }, '*/15 * * * *'],
    [{ repeat: 'hourly', minute: '7' }, '7 * * * *'],
    [{ repeat: 'daily', time: '09:30' }, '30 9 * * *'],
    [{ repeat: 'weekdays', time: '00:00' }, '0 0 * * 1-5'],
    [{ repeat: 'weekly', time: '18:05', weekday: '0' }, '5 18 * * 0'],
    [{ repeat: 'monthly', time: '03:00', day: '31' }, '0 3 31 * *'],
    [{ repeat: 'custom', schedule: '0 0 1 1 *' }, '0 0 1 1 *'],
  ] as const) {
    const { location } = await owner.send(create, typed(target.url, { schedule: '', ...fields }))
    const [path = ''] = (location ?? '').split('?')
    const form = await owner.sees(`${path}/edit`, `<code>${schedule}</code>`)
    expect(form.html).toContain(`<option value="${fields.repeat}" selected`)
    for (const [name, value] of Object.entries(fields))
      expect(form.html).toMatch(
        new RegExp(
          `name="${name}"[^>]* value="${value.replaceAll('*', '[*]')}"|<option value="${value}" selected`,
        ),
      )
    await owner.press(path, 'Delete job')
  }
  for (const [fields, wrong] of [
    [{ repeat: 'minutes', every: '7' }, 'every'],
    [{ repeat: 'hourly', minute: '60' }, 'minute'],
    [{ repeat: 'daily', time: '24:00' }, 'time'],
    [{ repeat: 'weekly', time: '09:00', weekday: '7' }, 'weekday'],
    [{ repeat: 'monthly', time: '09:00', day: '0' }, 'day'],
  ] as const)
    expect((await owner.send(create, typed(target.url, fields))).wrong).toEqual([wrong])
})

test('A job that failed shows request, response and the next attempt', async () => {
  await using job = await withJob({ headers, body: '{"a":1}' })
  job.target.answers(() => new Response('{"reason":"<b>down</b>"}', { status: 503 }))
  await app.clock.advance(MINUTE)
  const page = (await job.see()).omits('<b>down</b>')
  page.says('Last run failed', 'next attempt', 'X-Token: abc', 'X-Clockwork-Attempt: 1')
  page.says('503', 'Next attempt', 'Selected run')
})

test('A job shows its runs one by one, or all in a list, and skipped slots as a gap', async () => {
  await using job = await withJob()
  await using other = await withJob()
  await app.clock.advance(3 * MINUTE)
  const runs = (await job.api.get(`/v1/clockwork/jobs/${job.jobId}/executions`)).body
  const [newest, middle, oldest] = runs.map(({ id }: { id: string }) => id)
  const shown = (id: string) => `X-Clockwork-Execution-Id: ${id}`
  const last = (await job.see()).says(shown(newest))
  last.says('Start delay of the last 3 attempts. Median')
  expect([last.next, last.rows]).toEqual(['', []])
  const before = await job.owner.sees(last.prev, shown(middle), '2 of 3')
  await job.owner.sees(before.next, shown(newest))
  ;(await job.see(`?execution=${oldest}`)).says(shown(oldest))
  expect((await other.see(`?execution=${oldest}`)).status).toBe(404)
  expect(last.links).toContain(`${job.path}/runs`)
  const list = await job.see('/runs')
  expect([list.rows, list.links.filter((link) => link.includes(middle))]).toEqual([
    [newest, middle, oldest],
    [`${job.path}?execution=${middle}`],
  ])
  expect((await other.owner.open(`${job.path}/runs`)).status).toBe(404)
  app.clock.jump(5 * MINUTE)
  await app.clock.advance(2 * MINUTE)
  expect((await job.see()).html).toMatch(/\d slots? skipped/)
})

test('A job is paused, run manually, resumed and deleted; only a run updates its page', async () => {
  await using job = await withJob()
  const { owner, path, target, stored } = job
  await owner.press(path, 'Pause job')
  ;(await job.see()).says('Paused. Schedule: every minute.').omits('job-watch')
  expect((await stored()).is_active).toBe(false)
  const answer = Promise.withResolvers<Response>()
  target.answers(() => answer.promise)
  const during = await owner.press(path, 'Run now')
  during.says('A run is in progress.', `id="job-watch" hidden hx-get="/console/${job.id}/jobs/`)
  answer.resolve(new Response(''))
  await app.clock.settled()
  await app.clock.advance(1000)
  expect(target.requests).toHaveLength(1)
  ;(await job.see()).says('Manual').omits('job-watch')
  await owner.press(path, 'Resume job')
  expect((await stored()).is_active).toBe(true)
  await owner.press(path, 'Delete job')
  expect((await job.see()).status).toBe(404)
  for (const [action, times] of [
    ['job.updated', 2],
    ['job.run', 1],
    ['job.deleted', 1],
  ] as const)
    expect(owner.audited(action)).toEqual(Array(times).fill(`job:${job.jobId}`))
})

test('A job keeps everything that its form does not change', async () => {
  const headers = { 'X-A': '1', 'X-B': '2' }
  await using job = await withJob({ headers, body: 'one\r\ntwo', is_active: false })
  const edit = `${job.path}/edit`
  const own = { headers: 'X-A: 1\r\nX-B: 2', body: 'one\r\ntwo' }
  const fields = typed(job.target.url, { ...own, method: (await job.stored()).method })
  expect((await job.owner.send(edit, fields)).location).toEndWith('.unchanged')
  expect(job.owner.audited('job.updated')).toEqual([])
  await job.owner.send(edit, { ...fields, name: 'renamed' })
  expect(await job.stored()).toMatchObject({ name: 'renamed', body: 'one\r\ntwo', headers })
})

const inAnHour = () => new Date(app.clock.now() + HOUR).toISOString()

async function withDelayed() {
  const acme = await app.newTenant()
  const delayed = async (fields: object = {}) => {
    const job = { name: 'reminder', run_at: inAnHour(), url: acme.target.url, ...fields }
    return (await acme.api.post('/v1/clockwork/delayed', job)).body.id as string
  }
  return { ...acme, delayed }
}

test('The list of delayed jobs starts with a command, and finds jobs by status, name, URL and tag', async () => {
  const { owner, delayed, target } = await withDelayed()
  await owner.sees(DELAYED, "/v1/clockwork/delayed'")
  const first = await delayed({ name: 'first' })
  const second = await delayed({ name: 'second', url: `${target.url}/orders`, tags: ['eu'] })
  await owner.send(`${DELAYED}/${second}/cancel`)
  await owner.sees(DELAYED, '1 pending, next run', 'Upcoming runs: 1 in the next')
  await owner.sees(`${DELAYED}?tag=eu`, 'value="eu"', 'Cancelled1')
  await owner.sees(`${DELAYED}/${second}`, '/delayed?tag=eu')
  for (const [query, found] of [
    ['status=pending', first],
    ['status=cancelled', second],
    ['q=ORDERS', second],
    ['tag=eu', second],
    ['tag=eu&q=orders', second],
  ] as const)
    expect([query, (await owner.open(`${DELAYED}?${query}`)).rows]).toEqual([query, [found]])
  await owner.send(`${DELAYED}/${first}/cancel`)
})

test('A new delayed job runs at the time that was typed, in UTC', async () => {
  const { id, owner, target } = await app.newTenant()
  const run_at = inAnHour().slice(0, 16)
  const { schedule: _, ...fields } = { ...typed(target.url), run_at }
  await owner.press(`${DELAYED}/new`, 'Create delayed job', fields)
  const [job] = app.clockwork.delayed.list(id)
  expect(job).toMatchObject({ run_at: `${run_at}:00.000Z`, headers, body: fields.body })
  expect(owner.audited('delayed_job.created')).toEqual([`delayed_job:${job?.id}`])
})

test('A new delayed job runs in 10 minutes, in an hour, or tomorrow at nine in the time zone of the tenant', async () => {
  const { id, owner, target } = await app.newTenant()
  await owner.send('/settings', { name: 'Acme', time_zone: 'Asia/Tokyo' })
  const { schedule: _, ...fields } = typed(target.url)
  const now = app.clock.now()
  const inTokyo = new Date(now + 9 * HOUR + 24 * HOUR).toISOString().slice(0, 10)
  for (const [when, at] of [
    ['10m', now + 10 * MINUTE],
    ['1h', now + HOUR],
    ['tomorrow', Date.parse(`${inTokyo}T00:00:00Z`)],
  ] as const) {
    await owner.send(`${DELAYED}/new`, { ...fields, when })
    const runs = app.clockwork.delayed.list(id).map(({ run_at }) => run_at)
    expect([when, runs]).toEqual([when, expect.arrayContaining([new Date(at).toISOString()])])
  }
  for (const { id: job } of app.clockwork.delayed.list(id))
    await owner.send(`${DELAYED}/${job}/cancel`)
})

test('A failed delayed job shows its attempts and the next one', async () => {
  const { owner, delayed, target } = await withDelayed()
  const path = `${DELAYED}/${await delayed()}`
  const gone = await delayed({ url: new URL('/gone', target.url).href })
  target.answers(({ path }) => new Response('down', { status: path === '/gone' ? 404 : 503 }))
  ;(await owner.open(path)).omits('every 2s')
  await app.clock.advance(HOUR - 1)
  await owner.sees(path, 'hx-trigger="every 2s"')
  await app.clock.advance(MINUTE)
  const page = await owner.sees(path, 'Failed; next attempt', 'Status 503', 'Next attempt')
  page.says('X-Clockwork-Attempt: 1')
  expect((await owner.open(`${path}?execution=${UNKNOWN_ID}`)).status).toBe(404)
  ;(await owner.sees(`${DELAYED}/${gone}`, 'Status 404')).omits('Next attempt')
  await owner.send(`${path}/cancel`)
  await owner.sees(DELAYED, 'None pending; 1 of 1 failed in the last 24 hours')
})

test('A pending job is cancelled once', async () => {
  const { owner, delayed } = await withDelayed()
  const id = await delayed()
  const path = `${DELAYED}/${id}`
  ;(await owner.press(path, 'Cancel job')).says('Cancelled')
  expect(owner.audited('delayed_job.cancelled')).toEqual([`delayed_job:${id}`])
  const again = await owner.send(`${path}/cancel`)
  expect(again.says('Only a pending job can be cancelled').status).toBe(409)
})
