import { expect, test } from 'bun:test'
import { useApp } from '../../support/app.ts'
import { testConfig } from '../../support/config.ts'
import { at, DELAYED, JOBS } from './support.ts'

// What is wrong by type, bounds or absence is in tests/contract/bodies.test.ts.

const app = await useApp()
const outside = await useApp({ allow: [] })
const url = 'http://127.0.0.1:9/hook'
const goodJob = { name: 'n', schedule: '* * * * *', url }
const goodDelayed = { name: 'n', run_at: at('12:30:00'), url }

const REQUEST: [string, unknown[]][] = [
  ['url', ['', 'example.com', 'ftp://example.com/', 'file:///etc/passwd', 'https://u:p@a.com/']],
  ['url', ['http://10.0.0.1/', 'http://172.16.0.1/', 'http://192.168.1.1:8080/', 'http://[::1]/']],
  ['url', ['http://[fd00::1]/', 'http://0x0a000001/', 'http://169.254.169.254/latest/meta-data']],
  ['url', ['http://[fe80::1]/', 'http://localhost/', 'http://intranet/', 'http://intranet./']],
  ['method', ['HEAD', 'get']],
  ['headers', [{ 'bad name': 'x' }, { '': 'x' }, '{"a":"b"}']],
  ['headers.X-A', [{ 'X-A': 1 }, { 'X-A': null }, { 'X-A': 'x\r\nX-Clockwork-Attempt: 9' }]],
  ['headers.X-A', [{ 'X-A': 'x\0' }, { 'X-A': '€' }]],
]
const SCHEDULES = ['', '* * * *', '60 * * * *', '0 0 1 * 1', '@daily', '0 0 31 2 *']
const TIMES = [
  ...['', 'tomorrow', '1772366430000', '2026-03-02', '2026-03-02T00:00:00', at('12:00:29')],
  ...['2026-03-02 00:00:00Z', '2026-02-30T00:00:00Z', '2027-02-29T00:00:00Z'],
  ...['2026-03-02T24:00:00Z', '2026-03-02T23:60:00Z', '2026-13-01T00:00:00Z'],
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
