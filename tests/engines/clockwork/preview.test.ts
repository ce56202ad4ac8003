import { expect, test } from 'bun:test'
import { at, JOBS, useClockwork } from './support.ts'

const { fresh } = await useClockwork()
const PREVIEW = `${JOBS}/preview`

test('A preview has the next ten runs in UTC, in words, without storing anything', async () => {
  const { api, createJob, listJobs } = await fresh()
  const { status, body } = await api.post(PREVIEW, { schedule: '*/10 * * * *' })
  const times = ['12:10', '12:20', '12:30', '12:40', '12:50', '13:00', '13:10', '13:20', '13:30']
  const next_runs = [...times, '13:40'].map((time) => at(`${time}:00`))
  const told = { schedule: '*/10 * * * *', description: 'every 10 minutes' }
  expect([status, body]).toEqual([200, { ...told, next_runs, warnings: [], url: null }])
  expect(await listJobs()).toEqual([])
  const rare = (await api.post(PREVIEW, { schedule: '0 0 31 * *' })).body
  expect(rare.warnings).toEqual([expect.stringContaining('day 31 does not exist in')])
  expect(rare.next_runs[0]).toBe((await createJob({ schedule: '0 0 31 * *' })).next_run_at)
})

test('A preview says whether a URL may be called, and why not', async () => {
  const { api } = await fresh()
  for (const [url, why] of [
    ['https://example.com/hook', null],
    ['http://10.0.0.1/', 'private address'],
    ['ftp://example.com/', 'must start with http or https'],
    ['http://intranet/', 'single-label'],
    ['not a URL', 'must be an absolute http or https URL'],
  ] as const) {
    const reason = why && expect.stringContaining(why)
    const body = { url: { url, allowed: why === null, reason } }
    const answer = await api.post(PREVIEW, { schedule: '* * * * *', url })
    expect(answer).toMatchObject({ status: 200, body })
  }
})

test('A preview refuses a schedule as a creation does', async () => {
  const { api, target } = await fresh()
  for (const schedule of ['0 0 31 2 *', '0 0 1 * 1', '@daily', 5, undefined]) {
    const preview = await api.post(PREVIEW, { schedule })
    const created = await api.post(JOBS, { name: 'n', schedule, url: target.url })
    expect([preview.status, preview.body]).toEqual([400, created.body])
  }
})
