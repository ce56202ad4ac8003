import { describe, expect, test } from 'bun:test'
import { MINUTE, useConsole } from '../fixture.ts'

const PAGE = '/console/jobs'

const app = await useConsole()

/** A tenant with a job that runs every minute, deleted after the test. */
async function withJob(fields: object = {}) {
  const acme = await app.newTenant()
  const id = await acme.job(fields)
  const stored = async () => (await acme.api.get(`/v1/clockwork/jobs/${id}`)).body
  const path = `${PAGE}/${id}`
  const { owner } = acme
  return {
    ...acme,
    jobId: id,
    path,
    stored,
    see: (query = '') => owner.open(path + query),
    [Symbol.asyncDispose]: async () => {
      await owner.send(`${path}/delete`)
    },
  }
}

/** What the form for a job sends. */
const typed = (url: string, fields: Record<string, string> = {}) => ({
  name: 'report',
  schedule: '* * * * *',
  url,
  method: 'POST',
  headers: 'X-Token: abc',
  body: '{"a":1}',
  ...fields,
})

test('Viewers are offered no actions', async () => {
  await using job = await withJob({ is_active: false })
  const viewer = await job.as('viewer')
  for (const path of [PAGE, job.path])
    expect((await viewer.open(path)).html).not.toMatch(
      /Create job|Run now<|(Pause|Edit|Delete) job/,
    )
})

describe('The list', () => {
  test('starts with a command that creates a job', async () => {
    const { owner } = await app.newTenant()
    const { text } = await owner.open(PAGE)
    for (const words of ['Scheduled HTTP requests', "/v1/clockwork/jobs'", 'Bearer $GATEHOUSE_KEY'])
      expect(text).toContain(words)
  })

  test('says what failed, and finds jobs by state, name and URL', async () => {
    const { owner, job, target } = await app.newTenant()
    const nightly = await job({ name: 'nightly' })
    const broken = await job({ name: 'broken', url: `${target.url}/no` })
    const resting = await job({ name: 'resting', is_active: false })
    target.answers(({ path }) => new Response('', { status: path.endsWith('/no') ? 500 : 200 }))
    await app.clock.advance(MINUTE)
    const { html } = await owner.open(PAGE)
    for (const words of [
      '1 of 3 jobs failing; 1 attempt failed in the last 24 hours',
      'Every minute',
      'including delayed jobs: 1 succeeded, 1 failed',
    ])
      expect(html).toContain(words)
    for (const [query, found] of [
      ['', [nightly, broken, resting]],
      ['state=failing', [broken]],
      ['state=paused', [resting]],
      ['q=NIGHT', [nightly]],
      ['q=/NO', [broken]],
      ['q=nothing', []],
    ] as const)
      expect([query, (await owner.open(`${PAGE}?${query}`)).rows]).toEqual([
        query,
        found.toReversed(),
      ])
    for (const id of [nightly, broken]) await owner.send(`${PAGE}/${id}/delete`)
  })

  test('has 50 jobs on a page and leads back page by page', async () => {
    const { owner, job } = await app.newTenant()
    const ids: string[] = []
    for (let n = 0; n < 101; n++) ids.unshift(await job({ is_active: false }))
    const first = await owner.open(`${PAGE}?state=paused`)
    const second = await owner.open(first.next)
    const third = await owner.open(second.next)
    expect([first, second, third].flatMap(({ rows }) => rows)).toEqual(ids)
    expect((await owner.open(third.prev)).rows).toEqual(second.rows)
    expect(second.prev).toBe(`${PAGE}?state=paused`)
    expect((await owner.open(`${PAGE}?cursor=abc`)).status).toBe(400)
  })
})

describe('A new job', () => {
  test('is created as it was typed, and runs', async () => {
    const { id, owner, target } = await app.newTenant()
    const fields = { body: 'one\r\ntwo', is_active: 'true' }
    const { status, location } = await owner.send(`${PAGE}/new`, typed(target.url, fields))
    const [job] = app.clockwork.jobs.list(id)
    expect([status, location?.split('?')[0]]).toEqual([303, `${PAGE}/${job?.id}`])
    const headers = { 'X-Token': 'abc' }
    expect(job).toMatchObject({ name: 'report', headers, body: 'one\ntwo', is_active: true })
    expect(owner.audited('job.created')).toEqual([`job:${job?.id}`])
    await app.clock.advance(MINUTE)
    expect(target.requests.map(({ body }) => body)).toEqual(['one\ntwo'])
    const { text } = await owner.open(`${PAGE}/${job?.id}`)
    expect(text).toContain('Runs every minute, next run')
    await owner.send(`${PAGE}/${job?.id}/delete`)
  })

  test.each([
    [['name'], { name: ' ' }],
    [['name'], { name: 'x'.repeat(10_000) }],
    [['schedule'], { schedule: 'whenever' }],
    [['url'], { url: 'ftp://example.com' }],
    [['url'], { url: 'http://10.0.0.1/' }],
    [['method'], { method: 'BREW' }],
    [['headers'], { headers: 'no colon' }],
    [['headers'], { headers: 'X-A: 1\nX-A: 2' }],
    [['headers'], { headers: 'Bad Name: 1' }],
    [
      ['name', 'schedule', 'url', 'headers'],
      { name: '', schedule: '0 0 1 * 1', url: 'nowhere', headers: 'X' },
    ],
  ])('is refused with errors beside %j, and keeps the other fields', async (names, fields) => {
    const { id, owner, target } = await app.newTenant()
    const { status, wrong, html, text } = await owner.send(
      `${PAGE}/new`,
      typed(target.url, { body: 'kept <b>', ...fields }),
    )
    expect([status, wrong.toSorted()]).toEqual([422, names.toSorted()])
    expect(html).toContain('kept &lt;b>')
    expect(text).toContain(`Fix ${names.length} problem`)
    expect(app.clockwork.jobs.list(id)).toEqual([])
  })

  test('has a preview of its schedule, which saves nothing', async () => {
    const { id, owner, target } = await app.newTenant()
    const preview = (fields: Record<string, string>) =>
      owner.send(`${PAGE}/new`, typed(target.url, { intent: 'preview', ...fields }))
    const { status, html } = await preview({ schedule: '0 3 31 * *', url: 'http://10.0.0.1/' })
    expect([status, html.match(/<li>[^<]*03:00 UTC/g)?.length]).toEqual([200, 5])
    for (const part of ['at 03:00 UTC', 'URL must be publicly reachable', 'value="0 3 31 * *"'])
      expect(html).toContain(part)
    const refused = await preview({ schedule: 'no' })
    expect([refused.status, refused.wrong]).toEqual([422, ['schedule', 'preview']])
    expect(app.clockwork.jobs.list(id)).toEqual([])
  })

  test('starts as a copy of another job of the tenant', async () => {
    await using job = await withJob({ headers: { 'X-Token': 'abc' }, is_active: false })
    const { html } = await job.owner.open(`${PAGE}/new?from=${job.jobId}`)
    for (const part of ['value="report (copy)"', 'value="* * * * *"', 'X-Token: abc'])
      expect(html).toContain(part)
    const other = await app.newTenant()
    expect((await other.owner.open(`${PAGE}/new?from=${job.jobId}`)).status).toBe(404)
  })
})

describe('A job', () => {
  test('that failed shows request, response and the next attempt', async () => {
    await using job = await withJob({ headers: { 'X-Token': 'abc' }, body: '{"a":1}' })
    job.target.answers(() => new Response('{"reason":"<b>down</b>"}', { status: 503 }))
    await app.clock.advance(MINUTE)
    const { text, html } = await job.see()
    for (const words of [
      'Last run failed',
      'next attempt',
      'X-Token: abc',
      'X-Clockwork-Attempt: 1',
      '503',
      'Next attempt',
      'Selected run',
    ])
      expect(text).toContain(words)
    expect(html).not.toContain('<b>down</b>')
  })

  test('shows its runs one by one, or all in a list', async () => {
    await using job = await withJob()
    await using other = await withJob()
    await app.clock.advance(3 * MINUTE)
    const runs = (await job.api.get(`/v1/clockwork/jobs/${job.jobId}/executions`)).body
    const [newest, middle, oldest] = runs.map(({ id }: { id: string }) => id)
    const shown = (id: string) => expect.stringContaining(`X-Clockwork-Execution-Id: ${id}`)
    const last = await job.see()
    expect([last.text, last.next, last.rows]).toEqual([shown(newest), '', []])
    expect(last.html).toContain('Start delay of the last 3 attempts. Median')
    const before = await job.owner.open(last.prev)
    expect([before.text, before.text]).toEqual([shown(middle), expect.stringContaining('2 of 3')])
    expect((await job.owner.open(before.next)).text).toEqual(shown(newest))
    expect((await job.see(`?execution=${oldest}`)).text).toEqual(shown(oldest))
    expect((await other.see(`?execution=${oldest}`)).status).toBe(404)
    const list = (await job.see('?list=all')).html.split('class="rows"')[1] ?? ''
    expect(list.match(/<tr/g)).toHaveLength(4)
  })

  test('updates its page only while a run is in progress', async () => {
    await using job = await withJob({ is_active: false })
    expect((await job.see()).html).not.toContain('job-watch')
    await job.owner.send(`${job.path}/run`)
    const { text, html } = await job.see('?done=asked')
    expect(text).toContain('A run is in progress.')
    expect(html).toContain(`id="job-watch" hidden hx-get="${job.path}"`)
    await app.clock.settled()
    await app.clock.advance(1000)
    expect((await job.see()).html).not.toContain('job-watch')
  })

  test('shows skipped slots as a gap', async () => {
    await using job = await withJob()
    await app.clock.advance(MINUTE)
    app.clock.jump(5 * MINUTE)
    await app.clock.advance(2 * MINUTE)
    expect((await job.see()).html).toMatch(/\d slots? skipped/)
  })

  test('is paused, run manually, resumed and deleted', async () => {
    await using job = await withJob()
    const { owner, path, target, stored } = job
    const act = async (verb: string) => {
      const { location } = await owner.send(`${path}/${verb}`)
      await app.clock.settled()
      return location?.split('?')[0]
    }
    expect([await act('pause'), (await stored()).is_active]).toEqual([path, false])
    expect((await job.see()).text).toContain('Paused. Schedule: every minute.')
    await act('run')
    await app.clock.advance(1000)
    expect(target.requests).toHaveLength(1)
    expect((await job.see()).text).toContain('Manual')
    expect([await act('resume'), (await stored()).is_active]).toEqual([path, true])
    expect([await act('delete'), (await job.see()).status]).toEqual([PAGE, 404])
    for (const [action, times] of [
      ['job.updated', 2],
      ['job.run', 1],
      ['job.deleted', 1],
    ] as const)
      expect(owner.audited(action)).toEqual(Array(times).fill(`job:${job.jobId}`))
  })

  test('keeps everything that its form does not change', async () => {
    const headers = { 'X-A': '1', 'X-B': '2' }
    await using job = await withJob({ headers, body: 'one\r\ntwo', is_active: false })
    const edit = `${job.path}/edit`
    const fields = typed(job.target.url, {
      headers: 'X-A: 1\r\nX-B: 2',
      body: 'one\r\ntwo',
      method: (await job.stored()).method,
    })
    expect((await job.owner.send(edit, fields)).location).toEndWith('?done=jobs-edit.unchanged')
    expect(job.owner.audited('job.updated')).toEqual([])
    await job.owner.send(edit, { ...fields, name: 'renamed' })
    expect(await job.stored()).toMatchObject({ name: 'renamed', body: 'one\r\ntwo', headers })
    const refused = await job.owner.send(edit, { ...fields, schedule: '61 * * * *' })
    expect([refused.status, refused.wrong]).toEqual([422, ['schedule']])
    expect(refused.html).toContain('value="61 * * * *"')
  })
})
