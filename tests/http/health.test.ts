import { expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { CHECK_MS } from '../../src/platform/storage-watch.ts'
import { bootTestApp, useApp } from '../support/app.ts'
import { until } from '../support/binary.ts'

// Other spellings of /metrics are in tests/slow/routes/addresses.test.ts.

const app = await useApp()

/** Samples without labels by their name; of others, the last by the name of its metric. */
async function metrics(of = app): Promise<Record<string, number>> {
  const { body } = await of.raw('/metrics')
  const samples: string[] = body.split('\n').filter((line: string) => /^[^#]/.test(line))
  return Object.fromEntries(
    samples.map((line) => {
      const [, name, value] = /^(\w+)(?:{.*})? (\S+)$/.exec(line) ?? []
      return [name, Number(value)]
    }),
  )
}

test('A server is alive and ready while the database answers, and not ready while it drains', async () => {
  await using own = await bootTestApp()
  expect(await own.raw('/healthz')).toMatchObject({ status: 200, body: { status: 'alive' } })
  expect(await own.raw('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
  own.drain()
  expect(await own.raw('/readyz')).toMatchObject({ status: 503, body: { status: 'draining' } })
  expect((await own.raw('/healthz')).status).toBe(200)
})

test('While the database is moved away, the log says so once and everything else is refused', async () => {
  await using own = await bootTestApp()
  const { api } = await own.tenant()
  const dataDir = dirname(own.db.file)
  const told = () => own.log.filter((line) => /database is (lost|available)/.test(line))
  renameSync(dataDir, `${dataDir}.away`)
  await own.clock.advance(3 * CHECK_MS)

  expect(told()).toHaveLength(1)
  const error = 'storage: gatehouse.db was moved or deleted while the server is running'
  expect(await api.get('/v1/clockwork/jobs')).toMatchObject({ status: 503, body: { error } })
  expect((await own.raw('/console/login')).status).toBe(503)
  expect((await own.raw('/healthz')).status).toBe(200)
  renameSync(`${dataDir}.away`, dataDir)
  expect((await api.get('/v1/clockwork/jobs')).status).toBe(200)
  await own.clock.advance(CHECK_MS)
  expect(told()).toHaveLength(2)
})

test('Metrics are off unless enabled', async () => {
  await using off = await bootTestApp({ flags: { 'metrics-enabled': 'false' } })
  const error = expect.stringContaining('[metrics] enabled')
  expect(await off.raw('/metrics')).toMatchObject({ status: 404, body: { error } })
  expect((await off.raw('/metrics/')).body.error).toBe('no such route: GET /metrics/')
})

test('Metrics name routes by their template and never a path, a tenant or a key', async () => {
  const acme = await app.tenant()
  await acme.api.get('/v1/clockwork/jobs/0192-some-id')
  await app.raw('/nothing/here')
  await new Promise((resolve) => setImmediate(resolve))
  const { body, headers } = await app.raw('/metrics')
  expect(headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
  const requests = (route: string) =>
    `gatehouse_http_requests_total{route="${route}",method="GET",status="404"} 1`
  expect(body).toContain(requests('/v1/clockwork/jobs/:job_id'))
  expect(body).toContain(requests('none'))
  expect(body).toMatch(/gatehouse_build_info\{version="[^"]+",commit="[^"]+"\} 1/)
  for (const secret of ['0192-some-id', '/nothing', acme.id, acme.secret])
    expect(body).not.toContain(secret)
})

test('Metrics tell of the process, and of the disk and the database below it', async () => {
  await app.tenant()
  const values = await metrics()
  const started = values.gatehouse_process_start_time_seconds as number
  expect(Math.abs(Date.now() / 1000 - started - 43_200)).toBeLessThanOrEqual(43_200)
  expect(values.gatehouse_process_resident_memory_bytes).toBeGreaterThan(10_000_000)
  for (const name of [
    ...['process_cpu_seconds_total', 'database_free_disk_bytes', 'wal_size_bytes'],
    ...[
      'commit_duration_seconds_count',
      ...(process.platform === 'linux' ? ['process_open_fds'] : []),
    ],
  ])
    expect(values[`gatehouse_${name}`], name).toBeGreaterThan(0)
  expect(values).toMatchObject({
    gatehouse_instances_alive: 1,
    gatehouse_storage_failures_total: 0,
  })
})

test('Reading the metrics has the lag of the event loop measured from then on', async () => {
  await using own = await bootTestApp()
  const lag = async () => (await metrics(own)).gatehouse_event_loop_lag_seconds_count
  expect(await lag()).toBe(0)
  await until(async () => (await lag()) === 1)
})

test('Metrics that cannot be read are left out, and all others answer', async () => {
  await using own = await bootTestApp()
  own.db.client.run('ALTER TABLE instances RENAME TO gone')
  const values = await metrics(own)
  own.db.client.run('ALTER TABLE gone RENAME TO instances')
  expect(values).not.toHaveProperty('gatehouse_instances_alive')
  expect(values.gatehouse_scrape_errors_total).toBe(1)
  expect(values).toContainKeys(['gatehouse_clockwork_runs_ready', 'gatehouse_build_info'])
  const after = { gatehouse_instances_alive: 1, gatehouse_scrape_errors_total: 1 }
  expect(await metrics(own)).toMatchObject(after)
})
