import { expect, test } from 'bun:test'
import { useApp } from '../../support/app.ts'
import { testConfig } from '../../support/config.ts'
import { at, DELAYED, JOBS } from './support.ts'

// Types, bounds and absence are in tests/contract/bodies.test.ts, URLs in tests/platform/outbound.

const app = await useApp()
const outside = await useApp({ allow: [] })
const PREVIEW = `${JOBS}/preview`
const url = 'http://127.0.0.1:9/hook'
const goodJob = { name: 'n', schedule: '* * * * *', url }
const goodDelayed = { name: 'n', run_at: at('12:30:00'), url }

const REQUEST: [string, unknown[]][] = [
  ['url', ['', 'example.com', 'ftp://example.com/', 'https://u:p@a.com/', 'http://10.0.0.1/']],
  ['url', ['http://[::1]/', 'http://0x0a000001/', 'http://169.254.169.254/', 'http://intranet./']],
  ['method', ['HEAD', 'get']],
  ['headers', [{ 'bad name': 'x' }, { '': 'x' }]],
  ['headers.X-A', [{ 'X-A': 1 }, { 'X-A': null }, { 'X-A': 'x\r\nX-Clockwork-Attempt: 9' }]],
  ['headers.X-A', [{ 'X-A': 'x\0' }, { 'X-A': '€' }]],
]
const SCHEDULES = ['', '* * * *', '60 * * * *', '0 0 1 * 1', '@daily', '0 0 31 2 *']
const TIMES = [
  ...['', 'tomorrow', '1772366430000', '2026-03-02', '2026-03-02T00:00:00', at('12:00:29')],
  ...['2026-03-02 00:00:00Z', '2026-02-30T00:00:00Z', '2026-03-02T24:00:00Z'],
  ...['2026-03-02T00:00:00+25:00', '9999-12-31T23:59:59-01:00', '2026-03-01T12:00:30+00:01'],
]

test.each([
  ['A new cron job', 'post', JOBS, goodJob, [...REQUEST, ['schedule', SCHEDULES]]],
  ['A changed cron job', 'patch', '', { name: 'new' }, [...REQUEST, ['schedule', SCHEDULES]]],
  ['A delayed job', 'post', DELAYED, goodDelayed, [...REQUEST, ['run_at', TIMES]]],
] as const)('%s is refused by the name of the wrong field', async (...row) => {
  const [, method, path, good, fields] = row
  const { api } = await app.tenant()
  const { body: job } = await api.post(JOBS, goodJob)
  for (const [field, values] of fields)
    for (const value of values) {
      const sent = { ...good, [field.split('.')[0] as string]: value }
      const error = expect.stringMatching(RegExp(`^${field}: (?!${field}:)`))
      const answer = await api[method](path || `${JOBS}/${job.id}`, sent)
      expect(answer, `${value}`).toMatchObject({ status: 400, body: { error } })
    }
  // A body is validated before its job is looked up.
  const unknown = await api.patch(`${JOBS}/nothing`, { schedule: 'bad' })
  expect(unknown).toMatchObject({ status: 400 })
  expect((await api.get(JOBS)).body).toEqual([job])
  expect((await api.get(DELAYED)).body).toEqual([])
})

test('A body of exactly the limit is accepted, streamed bytes beyond it are not', async () => {
  const { api, secret } = await app.tenant()
  const room = testConfig().server.maxBodyBytes - JSON.stringify({ ...goodJob, body: '' }).length
  const job = { ...goodJob, body: 'x'.repeat(room) }
  expect((await api.post(JOBS, job)).status).toBe(201)
  const body = new Blob([JSON.stringify({ ...job, body: `${job.body}x` })]).stream()
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  expect((await app.raw(JOBS, { method: 'POST', headers, body })).status).toBe(413)
})

test('Without allowed networks, loopback is refused in every spelling', async () => {
  const { api } = await outside.tenant()
  const error = expect.stringMatching(/^url: /)
  for (const host of ['127.0.0.1', '127.1', '0.0.0.0', 'localhost', '[::ffff:127.0.0.1]']) {
    const answer = await api.post(JOBS, { ...goodJob, url: `http://${host}:1234/` })
    expect(answer).toMatchObject({ status: 400, body: { error } })
  }
})

test('A preview has the next ten runs in UTC, in words, without storing anything', async () => {
  const { api } = await app.tenant()
  const { status, body } = await api.post(PREVIEW, { schedule: '*/10 * * * *' })
  const times = ['12:10', '12:20', '12:30', '12:40', '12:50', '13:00', '13:10', '13:20', '13:30']
  const next_runs = [...times, '13:40'].map((time) => at(`${time}:00`))
  const next_runs_local = next_runs.map((time) => time.replace('.000Z', '+00:00'))
  const told = { schedule: '*/10 * * * *', time_zone: 'UTC', description: 'every 10 minutes' }
  const runs = { next_runs, next_runs_local }
  expect([status, body]).toEqual([200, { ...told, ...runs, warnings: [], url: null }])
  expect((await api.get(JOBS)).body).toEqual([])
  const rare = (await api.post(PREVIEW, { schedule: '0 0 31 * *' })).body
  expect(rare.warnings).toEqual([expect.stringContaining('day 31 does not exist in')])
})

test('A preview in a time zone has both times of each run, and warns of a clock change', async () => {
  const { api } = await app.tenant()
  const fields = { schedule: '30 2 * * 0', time_zone: 'America/New_York' }
  const { body } = await api.post(PREVIEW, fields)
  expect(body).toMatchObject({ ...fields, description: 'at 02:30 America/New_York on Sunday' })
  expect(body.next_runs.slice(0, 2)).toEqual([
    '2026-03-08T07:00:00.000Z',
    '2026-03-15T06:30:00.000Z',
  ])
  expect(body.next_runs_local.slice(0, 2)).toEqual([
    '2026-03-08T03:00:00-04:00',
    '2026-03-15T02:30:00-04:00',
  ])
  expect(body.warnings).toEqual([
    'clocks in America/New_York skip 02:00 to 03:00 on 2026-03-08; times in between run once, at 03:00',
  ])
})

test('A preview refuses a schedule as a creation does, and says whether a URL may be called', async () => {
  const { api } = await app.tenant()
  for (const schedule of ['0 0 31 2 *', '@daily', 5, undefined]) {
    const preview = await api.post(PREVIEW, { schedule })
    const created = await api.post(JOBS, { name: 'n', schedule, url })
    expect([preview.status, preview.body]).toEqual([400, created.body])
  }
  for (const [url, why] of [
    ['https://example.com/hook', null],
    ['http://10.0.0.1/', 'private address'],
    ['not a URL', 'must be an absolute http or https URL'],
  ] as const) {
    const reason = why && expect.stringContaining(why)
    const body = { url: { url, allowed: why === null, reason } }
    const answer = await api.post(PREVIEW, { schedule: '* * * * *', url })
    expect(answer).toMatchObject({ status: 200, body })
  }
})
