import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { audited } from '../console-fixture.ts'
import { jobsFixture, landed, tenantWith } from './fixture.ts'

const MINUTE = 60_000

let fixture: Awaited<ReturnType<typeof jobsFixture>>
beforeAll(async () => {
  fixture = await jobsFixture()
})
afterAll(() => fixture.stop())

const fields = (over: Record<string, string> = {}) => ({
  name: 'report',
  schedule: '* * * * *',
  url: fixture.target.url,
  method: 'POST',
  headers: 'X-Token: abc',
  body: '{"a":1}',
  is_active: 'true',
  ...over,
})

describe('a new job', () => {
  test('is made as it was typed, runs, and is in the audit log', async () => {
    const { app, target } = fixture
    const tenant = await tenantWith(app)
    const path = landed(await tenant.send('/jobs', fields({ body: 'one\r\ntwo' })))
    const [job] = app.clockwork.jobs.list(tenant.tenantId)
    expect(job).toMatchObject({
      name: 'report',
      headers: { 'X-Token': 'abc' },
      body: 'one\ntwo',
      is_active: true,
    })
    expect(audited(app, 'job.created').at(-1)).toEqual({
      actor_kind: 'operator',
      actor_id: tenant.id,
      tenant_id: tenant.tenantId,
      object: `job:${job?.id}`,
    })
    await app.clock.advance(MINUTE)
    expect(target.requests.map(({ body }) => body)).toContain('one\ntwo')
    expect((await tenant.see(path)).body).toContain('Runs every minute, next run')
    await tenant.send(`${path}/delete`)
  })

  test.each([
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(10_000) }],
    ['schedule', { schedule: 'whenever' }],
    ['url', { url: 'ftp://example.com' }],
    ['url', { url: 'http://10.0.0.1/' }],
    ['method', { method: 'BREW' }],
    ['headers', { headers: 'no colon' }],
    ['headers', { headers: 'X-A: 1\nX-A: 2' }],
    ['headers', { headers: 'Bad Name: 1' }],
  ])('says beside %s what is wrong, and keeps what was typed', async (name, wrong) => {
    const tenant = await tenantWith(fixture.app)
    const answer = await tenant.send('/jobs', fields({ body: 'kept <b>', ...wrong }))
    expect(answer.status).toBe(422)
    expect(answer.body).toContain(`id="field-${name}-error"`)
    expect(answer.body).toContain('kept &lt;b>')
    expect(fixture.app.clockwork.jobs.list(tenant.tenantId)).toEqual([])
  })

  test('shows what its schedule would do, and stores nothing', async () => {
    const tenant = await tenantWith(fixture.app)
    const { status, body } = await tenant.send('/jobs', {
      ...fields({ schedule: '0 3 31 * *', url: 'http://10.0.0.1/' }),
      intent: 'preview',
    })
    expect(status).toBe(200)
    expect(body).toContain('at 03:00 UTC')
    expect(body.match(/<li>[^<]*03:00 UTC/g)).toHaveLength(5)
    expect(body).toContain('URL must be publicly reachable')
    expect(body).toContain('value="0 3 31 * *"')
    expect(fixture.app.clockwork.jobs.list(tenant.tenantId)).toEqual([])

    const wrong = await tenant.send('/jobs', fields({ schedule: 'no', intent: 'preview' }))
    expect([wrong.status, wrong.body.includes('field-preview-error')]).toEqual([422, true])
  })

  test('says all that is wrong with it at once, and what would be right', async () => {
    const tenant = await tenantWith(fixture.app)
    const { body } = await tenant.send(
      '/jobs',
      fields({ name: '', schedule: '0 0 1 * 1', url: 'nowhere', headers: 'X' }),
    )
    for (const name of ['name', 'schedule', 'url', 'headers'])
      expect(body).toContain(`id="field-${name}-error"`)
    expect(body).toContain('Fix 4 problems')
    expect(body).toContain(
      'Schedule must not restrict both day of month and day of week; put * in one of them.',
    )
  })

  test('begins as a copy of another, but not of one of another tenant', async () => {
    const { app } = fixture
    const tenant = await tenantWith(app)
    const path = landed(await tenant.send('/jobs', fields({ is_active: '' })))
    const from = path.split('/').at(-1)
    const copy = (await tenant.see(`/jobs/new?from=${from}`)).body
    for (const part of ['value="report (copy)"', 'value="* * * * *"', 'X-Token: abc'])
      expect(copy).toContain(part)
    expect((await (await tenantWith(app)).see(`/jobs/new?from=${from}`)).status).toBe(404)
    expect(app.clockwork.jobs.list(tenant.tenantId)).toHaveLength(1)
  })
})
