import { afterAll, expect, test } from 'bun:test'
import {
  exportOf,
  fileOf,
  idNumber,
  importInto,
  type Line,
  ofKind,
} from '../../platform/portable/fixture.ts'
import { type TestApp, useApp } from '../../support/app.ts'
import { startTarget } from '../../support/target.ts'
import { DELAYED, JOBS } from './support.ts'

/** Two installations, the new one 3.5 hours later. Their clocks only go forward. */
const old = await useApp()
const home = await useApp({ start: '2026-03-01T15:30:00.000Z' })
const target = startTarget()
afterAll(() => target.stop())

/** A tenant of the old installation. */
async function newMove() {
  const { id, api, secret } = await old.tenant()
  target.requests.length = 0
  return {
    id,
    create: (path: string, fields: object) =>
      api.post(path, { name: 'job', url: target.url, ...fields }),
    exported: () => exportOf(old, id),
    move: () => importInto(home, fileOf(exportOf(old, id))),
    list: async (path: string) => (await home.client(secret).get(path)).body as Line[],
  }
}

const countsOf = ({ db }: TestApp, id: string) =>
  db.client
    .query('select cron_jobs, delayed_jobs, bytes from job_counts where tenant_id = ?')
    .get(id) as Line

test('A moved cron job runs at its next slot, unless it is paused', async () => {
  const { create, move, list } = await newMove()
  await create(JOBS, { schedule: '0 * * * *' })
  await create(JOBS, { schedule: '* * * * *', is_active: false })
  await create(JOBS, { schedule: '0 0 29 2 *' })
  await move()

  await home.clock.advanceTo(Date.parse('2026-03-01T15:59:59.000Z'))
  expect(target.requests).toHaveLength(0)
  await home.clock.advanceTo(Date.parse('2026-03-01T16:01:00.000Z'))
  expect(target.requests).toHaveLength(1)
  const [rare, , hourly] = await list(JOBS)
  expect(rare).toMatchObject({ next_run_at: '2028-02-29T00:00:00.000Z' })
  expect(hourly).toMatchObject({ next_run_at: '2026-03-01T17:00:00.000Z' })
})

test('A moved delayed job runs at its time, or immediately if that has passed', async () => {
  const { create, exported, move, list } = await newMove()
  await create(DELAYED, { name: 'done', run_at: '2026-03-01T12:01:00Z' })
  await old.clock.advance(120_000)
  target.requests.length = 0
  await create(DELAYED, { name: 'missed', run_at: '2026-03-01T13:00:00Z' })
  await create(DELAYED, { name: 'coming', run_at: '2026-03-01T18:00:00Z' })
  const names = ofKind(exported(), 'delayed_job').map(({ name }) => name)
  expect(names.toSorted()).toEqual(['coming', 'missed'])

  expect(await move()).toMatchObject({ notes: { overdue_delayed_jobs: 1 } })

  await home.clock.advance(60_000)
  expect((await list(DELAYED)).map(({ name, status }) => [name, status])).toEqual([
    ['missed', 'success'],
    ['coming', 'pending'],
  ])
  await home.clock.advanceTo(Date.parse('2026-03-01T18:01:00.000Z'))
  expect((await list(DELAYED)).map(({ status }) => status)).toEqual(['success', 'success'])
})

test('Moved jobs count towards the limits of their tenant, which are checked', async () => {
  const { id, create, exported, move } = await newMove()
  await create(JOBS, { schedule: '0 * * * *', body: 'ünïcode', headers: { a: 'b' } })
  await create(DELAYED, { run_at: '2026-03-02T13:00:00Z' })
  const lines = exported()
  const [one] = ofKind(lines, 'cron_job')
  const body = 'x'.repeat(3_000_000)
  const large = Array.from({ length: 6 }, (_, n) => ({ ...one, id: idNumber(n), body }))
  const tooMuch = fileOf(lines.toSpliced(lines.indexOf(one), 1, ...large))
  await expect(importInto(home, tooMuch)).rejects.toThrow('16777216 bytes in total')

  await move()

  expect(countsOf(home, id)).toEqual(countsOf(old, id))
})

test('A moved job has its options, its secret headers and the signing secret', async () => {
  const { id, create, exported, move, list } = await newMove()
  const options = {
    ...{
      timeout_ms: 5000,
      retry: { delays: [60] },
      success_statuses: ['2xx', 304],
      signed: true,
      reuse_connection: true,
    },
    ...{ tags: ['billing'], notes: 'Ask Ada', deduplication_id: 'one' },
    secret_headers: { 'X-Key': 'hidden-value' },
  }
  const schedule = { schedule: '5 * * * *', time_zone: 'Europe/Berlin', overlap: 'queue' }
  const cronOnly = { ...schedule, alert_after: 5 }
  await create(JOBS, { ...options, ...cronOnly })
  await create(DELAYED, { ...options, run_at: '2026-03-02T15:31:00Z' })
  const lines = exported()
  expect(ofKind(lines, 'job_signing_secret')).toHaveLength(1)
  expect(ofKind(lines, 'cron_job')).toMatchObject([{ secret_headers: options.secret_headers }])
  for (const [field, value] of [
    ['time_zone', 'Mars/Olympus'],
    ['tags', ['no spaces']],
    ['timeout_ms', 1],
    ['alert_after', 0],
    ['secret_headers', { 'X Y': 'a' }],
    ['retry', { max_attempts: 99 }],
  ]) {
    const changed = lines.map((line) =>
      line.kind === 'cron_job' ? { ...line, [field as string]: value } : line,
    )
    await expect(importInto(home, fileOf(changed))).rejects.toThrow(`cron_job.${field}`)
  }
  const again = lines.flatMap((line) =>
    line.kind === 'delayed_job' ? [line, { ...line, id: idNumber(1) }] : [line],
  )
  await expect(importInto(home, fileOf(again))).rejects.toThrow(
    'delayed_job.deduplication_id: is already used by another delayed_job',
  )
  await move()
  const shown = { ...options, secret_headers: { 'X-Key': '********' } }
  expect(await list(JOBS)).toMatchObject([{ ...shown, ...cronOnly }])
  expect(await list(DELAYED)).toMatchObject([shown])
  expect(countsOf(home, id)).toEqual(countsOf(old, id))
  await home.clock.advanceTo(Math.ceil(home.clock.now() / 3_600_000) * 3_600_000 + 300_000)
  const [sent] = target.requests
  expect(sent?.headers.get('x-key')).toBe('hidden-value')
  expect(sent?.headers.get('webhook-signature')).toStartWith('v1,')
})
