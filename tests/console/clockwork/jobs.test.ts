import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { admitted, at, jobsFixture, listed, pageTo, tenantWith } from './fixture.ts'

const MINUTE = 60_000

let fixture: Awaited<ReturnType<typeof jobsFixture>>
beforeAll(async () => {
  fixture = await jobsFixture()
})
afterAll(() => fixture.stop())

const api = (over: Record<string, unknown> = {}) => ({
  name: 'report',
  schedule: '* * * * *',
  url: fixture.target.url,
  ...over,
})

describe('who may do what', () => {
  const DOORS: [string, string, number, Record<string, number>][] = [
    ['GET', '/jobs', 200, { viewer: 200, elsewhere: 200 }],
    ['GET', '/jobs/new', 200, { elsewhere: 200 }],
    ['POST', '/jobs', 422, { elsewhere: 422 }],
    ['GET', '/jobs/:id', 200, { viewer: 200 }],
    ['GET', '/jobs/:id/edit', 200, {}],
    ['POST', '/jobs/:id/edit', 422, {}],
    ['POST', '/jobs/:id/run', 303, {}],
    ['POST', '/jobs/:id/pause', 303, {}],
    ['POST', '/jobs/:id/resume', 303, {}],
    ['POST', '/jobs/:id/delete', 303, { member: 403 }],
  ]

  test.each(DOORS)('%s /console%s', async (method, path, status, others) => {
    const { app } = fixture
    const tenant = await app.tenant()
    const { id } = (await tenant.api.post('/v1/clockwork/jobs', api({ is_active: false }))).body
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

  test('viewers see no way to change anything', async () => {
    const { app } = fixture
    const tenant = await app.tenant()
    const { id } = (await tenant.api.post('/v1/clockwork/jobs', api())).body
    const viewer = await at(app, { roles: { [tenant.id]: 'viewer' } })
    const page = (await viewer.see(`/jobs/${id}`)).body
    for (const verb of ['Run now<', 'Pause job', 'Edit job', 'Delete job'])
      expect(page).not.toContain(verb)
    for (const verb of ['Create job', 'Run now'])
      expect((await viewer.see('/jobs')).body).not.toContain(verb)
  })
})

describe('the list', () => {
  test('without a job says so, with a command of this installation', async () => {
    const { see } = await tenantWith(fixture.app)
    const page = (await see('/jobs')).body
    expect(page).toContain('Scheduled HTTP requests')
    expect(page).toContain("/v1/clockwork/jobs'")
    expect(page).toContain('Bearer $GATEHOUSE_KEY')
  })

  test('says what failed, and finds it by state and by name', async () => {
    const { app, target } = fixture
    const tenant = await tenantWith(app)
    await tenant.api.post('/v1/clockwork/jobs', api({ name: 'nightly' }))
    await tenant.api.post('/v1/clockwork/jobs', api({ name: 'broken', url: `${target.url}/no` }))
    await tenant.api.post('/v1/clockwork/jobs', api({ name: 'resting', is_active: false }))
    target.answers(({ path }) => new Response('', { status: path.endsWith('/no') ? 500 : 200 }))
    await app.clock.advance(MINUTE)
    target.answers(() => new Response('ok'))

    const all = (await tenant.see('/jobs')).body
    expect(all).toContain('1 of 3 jobs failing; 1 attempt failed in the last 24 hours')
    expect(all).toContain('Every minute')
    expect(all).toContain('including delayed jobs: 1 succeeded, 1 failed')
    const namesIn = async (query: string) => {
      const { body } = await tenant.see(`/jobs?${query}`)
      return ['nightly', 'broken', 'resting'].filter((name) => listed(body).includes(`>${name}<`))
    }
    expect(await namesIn('')).toEqual(['nightly', 'broken', 'resting'])
    expect(await namesIn('state=failing')).toEqual(['broken'])
    expect(await namesIn('state=paused')).toEqual(['resting'])
    expect(await namesIn('q=NIGHT')).toEqual(['nightly'])
    expect(await namesIn('q=/NO')).toEqual(['broken'])
    expect((await tenant.see('/jobs?q=nothing')).body).toContain('No matching jobs')
    for (const { id } of app.clockwork.jobs.list(tenant.tenantId))
      await tenant.send(`/jobs/${id}/delete`)
  })

  test('goes on where a page ends, and takes no cursor of another list', async () => {
    const tenant = await tenantWith(fixture.app)
    for (let n = 0; n < 51; n++)
      await tenant.api.post('/v1/clockwork/jobs', api({ name: `job-${n}.`, is_active: false }))
    const first = (await tenant.see('/jobs')).body
    expect([first.includes('job-50.'), first.includes('job-0.')]).toEqual([true, false])
    const second = (await tenant.see(pageTo(first, 'next'))).body
    expect([second.includes('job-1.'), second.includes('>job-0.<')]).toEqual([false, true])
    expect(pageTo(second, 'prev')).toBe('/jobs')
    expect((await tenant.see('/jobs?cursor=abc')).status).toBe(400)
  })

  test('leads back to the very page that one came from', async () => {
    const tenant = await tenantWith(fixture.app)
    for (let n = 0; n < 101; n++)
      await tenant.api.post('/v1/clockwork/jobs', api({ name: `job-${n}.`, is_active: false }))
    const first = (await tenant.see('/jobs?state=paused')).body
    const second = (await tenant.see(pageTo(first, 'next'))).body
    const third = (await tenant.see(pageTo(second, 'next'))).body
    expect(listed(third)).toContain('>job-0.<')
    expect(listed((await tenant.see(pageTo(third, 'prev'))).body)).toBe(listed(second))
  })
})
