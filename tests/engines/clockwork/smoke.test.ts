import { expect, test } from 'bun:test'
import { bootTestApp } from '../../support/app.ts'
import { startTarget } from '../../support/target.ts'

test('smoke', async () => {
  await using app = await bootTestApp()
  await using target = startTarget()
  const acme = await app.tenant()
  const { api } = acme
  const created = await api.post('/v1/clockwork/jobs', { name: 'n', schedule: '* * * * *', url: target.url, headers: { 'X-A': 'b', 'x-clockwork-attempt': '9' }, body: 'hi' })
  console.log(created.status, created.body)
  const d = await api.post('/v1/clockwork/delayed', { name: 'n', run_at: '2026-03-01T12:00:40Z', url: target.url })
  console.log(d.status, d.body)
  await app.clock.advance(60_000)
  console.log(target.requests)
  console.log((await api.get(`/v1/clockwork/jobs/${created.body.id}/executions`)).body)
  console.log((await api.get(`/v1/clockwork/delayed/${d.body.id}/executions`)).body)
  console.log(await api.get('/nope'), await app.raw('/v1/clockwork/jobs', { method: 'PUT' }), await app.raw('/v1/relay/x'), await api.post('/v1/clockwork/jobs', { name: 3, url: 'x', schedule: 3 }))
  console.log(app.log)
  console.log((await app.raw('/metrics')).body, (await app.raw('/reference')).body.length)
})
