import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { audited } from '../console-fixture.ts'
import {
  admitted,
  at,
  HOSTILE,
  jobsFixture,
  landed,
  listed,
  NOBODYS,
  pageTo,
  tenantWith,
} from './fixture.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let fixture: Awaited<ReturnType<typeof jobsFixture>>
beforeAll(async () => {
  fixture = await jobsFixture()
})
afterAll(() => fixture.stop())

const inAnHour = () => new Date(fixture.app.clock.now() + HOUR).toISOString()

const fields = (over: Record<string, string> = {}) => ({
  name: 'reminder',
  run_at: inAnHour().slice(0, 16),
  url: fixture.target.url,
  method: 'POST',
  headers: 'X-Token: abc',
  body: '{"a":1}',
  ...over,
})

const api = (over: Record<string, unknown> = {}) => ({
  name: 'reminder',
  run_at: inAnHour(),
  url: fixture.target.url,
  ...over,
})

async function withJob(over: Record<string, unknown> = {}) {
  const tenant = await tenantWith(fixture.app)
  const { id } = (await tenant.api.post('/v1/clockwork/delayed', api(over))).body
  return { ...tenant, operatorId: tenant.id, jobId: id as string, path: `/delayed/${id}` }
}

describe('who may do what', () => {
  const DOORS: [string, string, number, Record<string, number>][] = [
    ['GET', '/delayed', 200, { viewer: 200, elsewhere: 200 }],
    ['GET', '/delayed/new', 200, { elsewhere: 200 }],
    ['POST', '/delayed', 422, { elsewhere: 422 }],
    ['GET', '/delayed/:id', 200, { viewer: 200 }],
    ['POST', '/delayed/:id/cancel', 303, { member: 403 }],
  ]

  test.each(DOORS)('%s /console%s', async (method, path, status, others) => {
    const { app } = fixture
    const tenant = await app.tenant()
    const { id } = (await tenant.api.post('/v1/clockwork/delayed', api())).body
    expect(await admitted(app, tenant.id, method, path.replace(':id', id))).toEqual({
      stranger: 401,
      installation: 403,
      elsewhere: 404,
      viewer: 403,
      member: status,
      owner: status,
      ...others,
    })
  })

  test('only owners see a way to cancel', async () => {
    const { path, see, tenantId } = await withJob()
    const member = await at(fixture.app, { roles: { [tenantId]: 'member' } })
    expect((await member.see(path)).body).not.toContain('Cancel job')
    expect((await see(path)).body).toContain('Cancel job')
  })
})

describe('the list', () => {
  test('without a job says so, with a command of this installation', async () => {
    const { see } = await tenantWith(fixture.app)
    const page = (await see('/delayed')).body
    expect(page).toContain('No delayed jobs')
    expect(page).toContain("/v1/clockwork/delayed'")
  })

  test('says what waits, and finds by status, name and URL', async () => {
    const tenant = await tenantWith(fixture.app)
    const make = async (over: Record<string, unknown>) =>
      (await tenant.api.post('/v1/clockwork/delayed', api(over))).body.id as string
    await make({ name: 'first' })
    const gone = await make({ name: 'second', url: `${fixture.target.url}/orders` })
    await tenant.send(`/delayed/${gone}/cancel`)
    const page = (await tenant.see('/delayed')).body
    expect(page).toContain('1 pending, next run')
    expect(page).toContain('Upcoming runs: 1 in the next')
    const namesIn = async (query: string) => {
      const { body } = await tenant.see(`/delayed?${query}`)
      return ['first', 'second'].filter((name) => listed(body).includes(`>${name}<`))
    }
    expect(await namesIn('')).toEqual(['first', 'second'])
    expect(await namesIn('status=pending')).toEqual(['first'])
    expect(await namesIn('status=cancelled')).toEqual(['second'])
    expect(await namesIn('q=ORDERS')).toEqual(['second'])
    expect((await tenant.see('/delayed?q=nothing')).body).toContain('No matching delayed jobs')
  })

  test('says how many of those that ended within a day have failed', async () => {
    const { app, target } = fixture
    const tenant = await tenantWith(app)
    await tenant.api.post('/v1/clockwork/delayed', api({ url: `${target.url}/gone` }))
    await tenant.api.post('/v1/clockwork/delayed', api())
    target.answers(({ path }) => new Response('', { status: path.endsWith('/gone') ? 404 : 200 }))
    await app.clock.advance(HOUR + MINUTE)
    target.answers(() => new Response('ok'))
    expect((await tenant.see('/delayed')).body).toContain(
      'None pending; 1 of 2 failed in the last 24 hours',
    )
  })

  test('goes on where a page ends', async () => {
    const tenant = await tenantWith(fixture.app)
    const run_at = inAnHour()
    for (let n = 0; n < 51; n++)
      await tenant.api.post('/v1/clockwork/delayed', api({ name: `job-${n}.`, run_at }))
    const first = (await tenant.see('/delayed')).body
    expect(listed(first)).toContain('>job-50.<')
    expect(listed(first)).not.toContain('>job-0.<')
    const second = (await tenant.see(pageTo(first, 'next'))).body
    expect(listed(second).match(/<tr/g)).toHaveLength(2)
    expect(listed(second)).toContain('>job-0.<')
    expect(pageTo(second, 'prev')).toBe('/delayed')
    expect((await tenant.see('/delayed?cursor=abc')).status).toBe(400)
  })
})

describe('a new job', () => {
  test('runs at the time that was typed, in UTC, and is in the audit log', async () => {
    const tenant = await tenantWith(fixture.app)
    const typed = fields()
    const path = landed(await tenant.send('/delayed', typed))
    const [job] = fixture.app.clockwork.delayed.list(tenant.tenantId)
    expect(job).toMatchObject({
      run_at: `${typed.run_at}:00.000Z`,
      headers: { 'X-Token': 'abc' },
      body: '{"a":1}',
    })
    expect(path).toBe(`/delayed/${job?.id}`)
    expect(audited(fixture.app, 'delayed_job.created').at(-1)).toEqual({
      actor_kind: 'operator',
      actor_id: tenant.id,
      tenant_id: tenant.tenantId,
      object: `delayed_job:${job?.id}`,
    })
  })

  test.each([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(10_000) }],
    ['run_at', { run_at: '' }],
    ['run_at', { run_at: '2020-01-01T00:00' }],
    ['run_at', { run_at: '2026-02-30T00:00' }],
    ['url', { url: 'ftp://example.com' }],
    ['headers', { headers: 'no colon' }],
  ])('says beside %s what is wrong, and keeps what was typed', async (name, wrong) => {
    const tenant = await tenantWith(fixture.app)
    const answer = await tenant.send('/delayed', fields({ body: 'kept <b>', ...wrong }))
    expect(answer.status).toBe(422)
    expect(answer.body).toContain(`id="field-${name}-error"`)
    expect(answer.body).toContain('kept &lt;b>')
    expect(fixture.app.clockwork.delayed.list(tenant.tenantId)).toEqual([])
  })
})

describe('a job', () => {
  test('that failed shows its attempts, and the one to come', async () => {
    const { app, target } = fixture
    const { path, see, send } = await withJob()
    target.answers(() => new Response('down', { status: 503 }))
    await app.clock.advance(HOUR + MINUTE)
    target.answers(() => new Response('ok'))
    const page = (await see(path)).body
    expect(page).toContain('Failed; next attempt')
    for (const part of ['Status 503', 'Next attempt', 'X-Clockwork-Attempt: 1'])
      expect(page).toContain(part)
    landed(await send(`${path}/cancel`))
  })

  test('is cancelled while it waits, by whom the audit log says; no second time', async () => {
    const { path, jobId, operatorId, send, see } = await withJob()
    landed(await send(`${path}/cancel`))
    expect((await see(path)).body).toContain('Cancelled')
    expect(audited(fixture.app, 'delayed_job.cancelled').at(-1)).toMatchObject({
      actor_kind: 'operator',
      actor_id: operatorId,
      object: `delayed_job:${jobId}`,
    })
    const again = await send(`${path}/cancel`)
    expect([again.status, again.body.includes('Only a pending job can be cancelled')]).toEqual([
      409,
      true,
    ])
  })

  test('knows no run of another', async () => {
    const { path, see } = await withJob()
    expect((await see(`${path}?execution=${NOBODYS}`)).status).toBe(404)
  })

  test('by a name that is meant to harm is shown as text', async () => {
    for (const name of [...HOSTILE, 'x'.repeat(255)]) {
      const { see, path } = await withJob({ name, body: name.repeat(40) })
      for (const page of ['/delayed', path]) {
        const { status, body } = await see(page)
        expect(status).toBe(200)
        for (const mark of ['<script>alert', '<img src=x']) expect(body).not.toContain(mark)
      }
    }
  })
})
