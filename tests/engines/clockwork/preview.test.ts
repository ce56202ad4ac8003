import { expect, test } from 'bun:test'
import { at, bootFixture, JOBS } from './support.ts'

const PREVIEW = `${JOBS}/preview`

test('a preview answers with the next ten runs in UTC, in words and without storing', async () => {
  await using fixture = await bootFixture()
  const { api, listJobs } = fixture

  const answer = await api.post(PREVIEW, { schedule: '*/10 * * * *' })

  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    schedule: '*/10 * * * *',
    description: expect.stringMatching(/10 minutes/),
    next_runs: [
      ...['12:10', '12:20', '12:30', '12:40', '12:50', '13:00', '13:10', '13:20', '13:30', '13:40'],
    ].map((time) => at(`${time}:00`)),
    warnings: [],
    url: null,
  })
  expect(await listJobs()).toEqual([])
})

test('a preview begins with the run that a job created now would begin with', async () => {
  await using fixture = await bootFixture()
  const { api, createJob } = fixture

  for (const schedule of ['* * * * *', '0 0 29 2 *', '30 6 * * 1-5']) {
    const { body } = await api.post(PREVIEW, { schedule })
    expect(body.next_runs[0]).toBe((await createJob({ schedule })).next_run_at)
  }
})

test('a preview warns of what may surprise', async () => {
  await using fixture = await bootFixture()

  const { body } = await fixture.api.post(PREVIEW, { schedule: '0 0 31 * *' })

  expect(body.warnings).toEqual([expect.stringContaining('day 31 does not exist in')])
})

test.each<[string, boolean, string | null]>([
  ['https://example.com/hook', true, null],
  ['http://10.0.0.1/', false, 'private address'],
  ['ftp://example.com/', false, 'URL must start with http or https, not ftp'],
  ['http://intranet/', false, 'single-label'],
  ['not a URL', false, 'URL must be an absolute http or https URL'],
])('a preview says whether %s may be called', async (url, allowed, reason) => {
  await using fixture = await bootFixture()

  const answer = await fixture.api.post(PREVIEW, { schedule: '* * * * *', url })

  expect(answer.status).toBe(200)
  expect(answer.body.url).toEqual({
    url,
    allowed,
    reason: reason === null ? null : expect.stringContaining(reason),
  })
})

test('a preview of a schedule that would be refused answers 400 with the same sentence', async () => {
  await using fixture = await bootFixture()
  const { api, target } = fixture

  for (const schedule of ['0 0 31 2 *', '0 0 1 * 1', '@daily', 5, undefined]) {
    const preview = await api.post(PREVIEW, { schedule })
    const created = await api.post(JOBS, { name: 'n', schedule, url: target.url })
    expect(preview.status).toBe(400)
    expect(preview.body).toEqual(created.body)
  }
})
