import { describe, expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { CHECK_MS } from '../../src/platform/storage-watch.ts'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/binary.ts'

test('alive and ready while the database answers', async () => {
  await using app = await bootTestApp()

  expect(await app.raw('/healthz')).toMatchObject({ status: 200, body: { status: 'alive' } })
  expect(await app.raw('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
})

test('alive but not ready while it drains', async () => {
  await using app = await bootTestApp()

  app.drain()

  expect(await app.raw('/readyz')).toMatchObject({ status: 503, body: { status: 'draining' } })
  expect((await app.raw('/healthz')).status).toBe(200)
})

test('once the database was moved away, the log says so once and reading is refused as well, until it is back', async () => {
  await using app = await bootTestApp()
  const { api } = await app.tenant()
  const dataDir = dirname(app.db.file)
  const told = () => app.log.filter((line) => /database is (lost|available)/.test(line))
  renameSync(dataDir, `${dataDir}.away`)
  await app.clock.advance(3 * CHECK_MS)

  expect(told()).toHaveLength(1)
  const error = 'storage: gatehouse.db was moved or deleted while the server is running'
  expect(await api.get('/v1/clockwork/jobs')).toMatchObject({ status: 503, body: { error } })
  expect((await app.raw('/console/login')).status).toBe(503)
  expect((await app.raw('/healthz')).status).toBe(200)
  renameSync(`${dataDir}.away`, dataDir)
  expect((await api.get('/v1/clockwork/jobs')).status).toBe(200)
  await app.clock.advance(CHECK_MS)
  expect(told()).toHaveLength(2)
})

test('metrics are off unless enabled', async () => {
  await using app = await bootTestApp({ flags: { 'metrics-enabled': 'false' } })

  const { status, body } = await app.raw('/metrics')

  expect(status).toBe(404)
  expect(body.error).toContain('[metrics] enabled')
})

describe('metrics answer at one address alone, the one that a proxy is told to keep inside', () => {
  test.each(['/metrics/', '/metrics/?x=1', '//metrics', '/metrics//', '/%6detrics', '/METRICS'])(
    'not at %s',
    async (path) => {
      await using app = await bootTestApp()

      const { status, body } = await app.raw(path)

      expect(status).toBe(404)
      expect(body.error).toBe(`no such route: GET ${path.split('?')[0]}`)
    },
  )

  test('with a question behind it, as some collectors ask', async () => {
    await using app = await bootTestApp()

    expect((await app.raw('/metrics?x=1')).status).toBe(200)
  })

  test('with metrics off, the others are no routes either', async () => {
    await using app = await bootTestApp({ flags: { 'metrics-enabled': 'false' } })

    expect((await app.raw('/metrics/')).body.error).toBe('no such route: GET /metrics/')
  })
})

test('metrics name routes by their template and never a path, a tenant or a key', async () => {
  await using app = await bootTestApp()
  const acme = await app.tenant()
  await acme.api.get('/v1/clockwork/jobs/0192-some-id')
  await app.raw('/nothing/here')
  await new Promise((resolve) => setImmediate(resolve))

  const { body, headers } = await app.raw('/metrics')

  expect(headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
  expect(body).toContain(
    'gatehouse_http_requests_total{route="/v1/clockwork/jobs/:job_id",method="GET",status="404"} 1',
  )
  expect(body).toContain('gatehouse_http_requests_total{route="none",method="GET",status="404"} 1')
  expect(body).toMatch(/gatehouse_build_info\{version="[^"]+",commit="[^"]+"\} 1/)
  for (const secret of ['0192-some-id', '/nothing', acme.id, acme.secret])
    expect(body).not.toContain(secret)
})

test('metrics tell of the process, and of the disk and the database below it', async () => {
  await using app = await bootTestApp()
  await app.tenant()

  const values = await valuesOf(app)

  expect(values.gatehouse_process_resident_memory_bytes).toBeGreaterThan(10_000_000)
  expect(values.gatehouse_process_cpu_seconds_total).toBeGreaterThan(0)
  expect(values.gatehouse_process_start_time_seconds).toBeLessThanOrEqual(Date.now() / 1000)
  expect(values.gatehouse_process_start_time_seconds).toBeGreaterThan(Date.now() / 1000 - 86_400)
  if (process.platform === 'linux') expect(values.gatehouse_process_open_fds).toBeGreaterThan(2)
  expect(values.gatehouse_instances_alive).toBe(1)
  expect(values.gatehouse_database_free_disk_bytes).toBeGreaterThan(0)
  expect(values.gatehouse_wal_size_bytes).toBeGreaterThan(0)
  expect(values.gatehouse_commit_duration_seconds_count).toBeGreaterThan(0)
  expect(values.gatehouse_storage_failures_total).toBe(0)
})

test('who looks at the metrics has the lag of the event loop measured from then on', async () => {
  await using app = await bootTestApp()
  const lag = async () => (await valuesOf(app)).gatehouse_event_loop_lag_seconds_count

  expect(await lag()).toBe(0)
  await until(async () => (await lag()) === 1)
})

test('metrics that cannot be read are left out, and all others answer', async () => {
  await using app = await bootTestApp()
  app.db.client.run('ALTER TABLE instances RENAME TO gone')

  const values = await valuesOf(app)
  app.db.client.run('ALTER TABLE gone RENAME TO instances')

  expect(values).not.toHaveProperty('gatehouse_instances_alive')
  expect(values.gatehouse_scrape_errors_total).toBe(1)
  expect(values).toContainKeys(['gatehouse_clockwork_runs_ready', 'gatehouse_build_info'])
  expect(await valuesOf(app)).toMatchObject({
    gatehouse_instances_alive: 1,
    gatehouse_scrape_errors_total: 1,
  })
})

/** Samples without labels by their name; of others, the last by the name of its metric. */
async function valuesOf(app: TestApp): Promise<Record<string, number>> {
  const { body } = await app.raw('/metrics')
  const samples: string[] = body.split('\n').filter((line: string) => /^[^#]/.test(line))
  return Object.fromEntries(
    samples.map((line) => {
      const [, name, value] = /^(\w+)(?:{.*})? (\S+)$/.exec(line) ?? []
      return [name, Number(value)]
    }),
  )
}
