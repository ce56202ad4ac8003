import { expect, test } from 'bun:test'
import { bootTestApp } from '../support/app.ts'

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

test('metrics are off unless enabled', async () => {
  await using app = await bootTestApp({ flags: { 'metrics-enabled': 'false' } })

  const { status, body } = await app.raw('/metrics')

  expect(status).toBe(404)
  expect(body.error).toContain('[metrics] enabled')
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
