import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  exportOf,
  fileOf,
  idNumber,
  importInto,
  type Line,
  ofKind,
} from '../../platform/portable/fixture.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { startTarget, type Target } from '../../support/target.ts'

const JOBS = '/v1/clockwork/jobs'
const DELAYED = '/v1/clockwork/delayed'

let target: Target
beforeAll(async () => {
  target = await startTarget()
})
afterAll(() => target.stop())

let old: TestApp
let home: TestApp
beforeEach(async () => {
  target.requests.length = 0
  old = await bootTestApp()
  home = await bootTestApp({ start: '2026-03-01T15:30:00.000Z' })
})
afterEach(async () => {
  await old.stop()
  await home.stop()
})

const job = (fields: object) => ({ name: 'job', url: target.url, ...fields })

const countsOf = ({ db }: TestApp) =>
  db.client.query('select cron_jobs, delayed_jobs, bytes from job_counts').get() as Line

describe('jobs that have moved', () => {
  test('run at their next slot, and none that passed on the way is caught up', async () => {
    const { id, api, secret } = await old.tenant()
    await api.post(JOBS, job({ schedule: '0 * * * *' }))
    const lines = exportOf(old, id)
    await importInto(home, fileOf(lines))

    await home.clock.advanceTo(Date.parse('2026-03-01T15:59:59.000Z'))
    expect(target.requests).toHaveLength(0)
    await home.clock.advanceTo(Date.parse('2026-03-01T16:01:00.000Z'))
    expect(target.requests).toHaveLength(1)
    const { body } = await home.client(secret).get(JOBS)
    expect(body).toMatchObject([{ next_run_at: '2026-03-01T17:00:00.000Z' }])
  })

  test('stay paused if they were', async () => {
    const { id, api } = await old.tenant()
    await api.post(JOBS, job({ schedule: '* * * * *', is_active: false }))
    await importInto(home, fileOf(exportOf(old, id)))
    await home.clock.advance(120_000)
    expect(target.requests).toHaveLength(0)
  })

  test('of a rare schedule wait for years', async () => {
    const { id, api } = await old.tenant()
    await api.post(JOBS, job({ schedule: '0 0 29 2 *' }))
    await importInto(home, fileOf(exportOf(old, id)))
    expect(home.db.client.query('select next_run_at from cron_jobs').get()).toEqual({
      next_run_at: Date.parse('2028-02-29T00:00:00.000Z'),
    })
  })

  test('run at their time if they are delayed, or at once if that has passed', async () => {
    const { id, api, secret } = await old.tenant()
    await api.post(DELAYED, job({ name: 'missed', run_at: '2026-03-01T13:00:00Z' }))
    await api.post(DELAYED, job({ name: 'coming', run_at: '2026-03-01T18:00:00Z' }))
    const lines = exportOf(old, id)

    expect(await importInto(home, fileOf(lines))).toMatchObject({
      notes: { overdue_delayed_jobs: 1 },
    })
    await home.clock.advance(60_000)
    const { body } = await home.client(secret).get(DELAYED)
    expect(body.map(({ name, status }: Line) => [name, status])).toEqual([
      ['missed', 'success'],
      ['coming', 'pending'],
    ])
    await home.clock.advanceTo(Date.parse('2026-03-01T18:01:00.000Z'))
    expect(target.requests).toHaveLength(2)
  })

  test('are counted towards the limits of their tenant', async () => {
    const { id, api } = await old.tenant()
    await api.post(JOBS, job({ schedule: '0 * * * *', body: 'ünïcode', headers: { a: 'b' } }))
    await api.post(DELAYED, job({ run_at: '2026-03-02T13:00:00Z' }))
    const counts = countsOf(old)
    await importInto(home, fileOf(exportOf(old, id)))
    expect(countsOf(home)).toEqual(counts)
  })

  test('are not those that have ended, or that the old place is carrying out', async () => {
    const { id, api } = await old.tenant()
    await api.post(DELAYED, job({ name: 'done', run_at: '2026-03-01T12:01:00Z' }))
    await old.clock.advance(120_000)
    await api.post(DELAYED, job({ name: 'open', run_at: '2026-03-02T12:01:00Z' }))
    expect(ofKind(exportOf(old, id), 'delayed_job').map(({ name }) => name)).toEqual(['open'])
  })
})

describe('jobs that no tenant could have made are refused', () => {
  test('more bytes than they may come to', async () => {
    const { id, api } = await old.tenant()
    await api.post(JOBS, job({ schedule: '0 * * * *' }))
    const lines = exportOf(old, id)
    const [one] = ofKind(lines, 'cron_job')
    const body = 'x'.repeat(3_000_000)
    const large = Array.from({ length: 6 }, (_, n) => ({ ...one, id: idNumber(n), body }))
    const at = lines.indexOf(one)
    await expect(importInto(home, fileOf(lines.toSpliced(at, 1, ...large)))).rejects.toThrow(
      'jobs must be at most 16777216 bytes in total',
    )
  })
})
