import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { audited } from './console-world.ts'
import { admitted, at, HOSTILE, jobsWorld, landed, NOBODYS, tenantWith } from './jobs-world.ts'

const MINUTE = 60_000

let world: Awaited<ReturnType<typeof jobsWorld>>
beforeAll(async () => {
  world = await jobsWorld()
})
afterAll(() => world.stop())

const fields = (over: Record<string, string> = {}) => ({
  name: 'report',
  schedule: '* * * * *',
  url: world.target.url,
  method: 'POST',
  headers: 'X-Token: abc',
  body: '{"a":1}',
  is_active: 'true',
  ...over,
})

const api = (over: Record<string, unknown> = {}) => ({
  name: 'report',
  schedule: '* * * * *',
  url: world.target.url,
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
    const { app } = world
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
    const { app } = world
    const tenant = await app.tenant()
    const { id } = (await tenant.api.post('/v1/clockwork/jobs', api())).body
    const viewer = await at(app, { roles: { [tenant.id]: 'viewer' } })
    const page = (await viewer.see(`/jobs/${id}`)).body
    for (const verb of ['Run now<', 'Pause job', 'Edit job', 'Delete job'])
      expect(page).not.toContain(verb)
    expect((await viewer.see('/jobs')).body).not.toContain('New job')
  })
})

describe('the list', () => {
  test('without a job says so, with a command of this installation', async () => {
    const { see } = await tenantWith(world.app)
    const page = (await see('/jobs')).body
    expect(page).toContain('Nothing runs by the clock yet.')
    expect(page).toContain("/v1/clockwork/jobs'")
    expect(page).toContain('Bearer $GATEHOUSE_KEY')
  })

  test('says what failed, and finds it by state and by name', async () => {
    const { app, target } = world
    const tenant = await tenantWith(app)
    await tenant.api.post('/v1/clockwork/jobs', api({ name: 'nightly' }))
    await tenant.api.post('/v1/clockwork/jobs', api({ name: 'broken', url: `${target.url}/no` }))
    await tenant.api.post('/v1/clockwork/jobs', api({ name: 'resting', is_active: false }))
    target.answers(({ path }) => new Response('', { status: path.endsWith('/no') ? 500 : 200 }))
    await app.clock.advance(MINUTE)
    target.answers(() => new Response('ok'))

    const all = (await tenant.see('/jobs')).body
    expect(all).toContain('1 of 3 jobs failed in the last 24 hours.')
    expect(all).toContain('every minute')
    const namesIn = async (query: string) => {
      const { body } = await tenant.see(`/jobs?${query}`)
      return ['nightly', 'broken', 'resting'].filter((name) => body.includes(`>${name}<`))
    }
    expect(await namesIn('')).toEqual(['nightly', 'broken', 'resting'])
    expect(await namesIn('state=failing')).toEqual(['broken'])
    expect(await namesIn('state=paused')).toEqual(['resting'])
    expect(await namesIn('q=NIGHT')).toEqual(['nightly'])
    expect((await tenant.see('/jobs?q=nothing')).body).toContain('No job by that name.')
    for (const { id } of app.clockwork.jobs.list(tenant.tenantId))
      await tenant.send(`/jobs/${id}/delete`)
  })

  test('goes on where a page ends, and takes no cursor of another list', async () => {
    const tenant = await tenantWith(world.app)
    for (let n = 0; n < 51; n++)
      await tenant.api.post('/v1/clockwork/jobs', api({ name: `job-${n}.`, is_active: false }))
    const first = (await tenant.see('/jobs')).body
    expect([first.includes('job-50.'), first.includes('job-0.')]).toEqual([true, false])
    const [, older = ''] = /cursor=([\w-]+)/.exec(first) ?? []
    const second = (await tenant.see(`/jobs?cursor=${older}`)).body
    expect([second.includes('job-1.'), second.includes('>job-0.<')]).toEqual([false, true])
    expect((await tenant.see('/jobs?cursor=abc')).status).toBe(400)
  })
})

describe('a new job', () => {
  test('is made as it was typed, runs, and is in the audit log', async () => {
    const { app, target } = world
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
    expect((await tenant.see(path)).body).toContain('Runs every minute, next')
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
    const tenant = await tenantWith(world.app)
    const answer = await tenant.send('/jobs', fields({ body: 'kept <b>', ...wrong }))
    expect(answer.status).toBe(422)
    expect(answer.body).toContain(`id="field-${name}-error"`)
    expect(answer.body).toContain('kept &lt;b>')
    expect(world.app.clockwork.jobs.list(tenant.tenantId)).toEqual([])
  })

  test('shows what its schedule would do, and stores nothing', async () => {
    const tenant = await tenantWith(world.app)
    const { status, body } = await tenant.send('/jobs', {
      ...fields({ schedule: '0 3 31 * *', url: 'http://10.0.0.1/' }),
      intent: 'preview',
    })
    expect(status).toBe(200)
    expect(body).toContain('at 03:00 UTC')
    expect(body.match(/<li>[^<]*03:00 UTC/g)).toHaveLength(5)
    expect(body).toContain('URL: ')
    expect(body).toContain('value="0 3 31 * *"')
    expect(world.app.clockwork.jobs.list(tenant.tenantId)).toEqual([])

    const wrong = await tenant.send('/jobs', fields({ schedule: 'no', intent: 'preview' }))
    expect([wrong.status, wrong.body.includes('No preview: ')]).toEqual([422, true])
  })
})

describe('a job', () => {
  async function withJob(over: Record<string, unknown> = {}) {
    const tenant = await tenantWith(world.app)
    const job = (await tenant.api.post('/v1/clockwork/jobs', api(over))).body
    return {
      ...tenant,
      job,
      path: `/jobs/${job.id}`,
      now: () => tenant.api.get(`/v1/clockwork/jobs/${job.id}`),
    }
  }

  test('that failed says why, what was sent, what came back and when it is tried again', async () => {
    const { app, target } = world
    const { see, send, path } = await withJob({ headers: { 'X-Token': 'abc' }, body: '{"a":1}' })
    target.answers(() => new Response('{"reason":"<b>down</b>"}', { status: 503 }))
    await app.clock.advance(MINUTE)
    target.answers(() => new Response('ok'))
    const page = (await see(path)).body
    expect(page).toContain('Its last run failed')
    expect(page).toContain('is tried again')
    for (const part of [
      'X-Token: abc',
      'X-Clockwork-Attempt: 1',
      '503',
      'Next attempt',
      'Attempts of this run',
    ])
      expect(page).toContain(part)
    expect(page).not.toContain('<b>down</b>')
    await send(`${path}/delete`)
  })

  test('shows the run that the address names, and none of another job', async () => {
    const { app } = world
    const { see, send, path, api } = await withJob()
    const other = await withJob()
    await app.clock.advance(2 * MINUTE)
    const runs = (await api.get(`/v1/clockwork${path}/executions`)).body as { id: string }[]
    const oldest = runs.at(-1)?.id
    const page = (await see(`${path}?execution=${oldest}`)).body
    expect(page).toContain(`X-Clockwork-Execution-Id: ${oldest}`)
    expect((await see(path)).body).toContain(`X-Clockwork-Execution-Id: ${runs[0]?.id}`)
    expect((await other.see(`${other.path}?execution=${oldest}`)).status).toBe(404)
    expect((await see(`${path}?execution=${NOBODYS}`)).status).toBe(404)
    await send(`${path}/delete`)
    await other.send(`${other.path}/delete`)
  })

  test('leaves a gap where slots passed without a run', async () => {
    const { app } = world
    const { see, send, path } = await withJob()
    await app.clock.advance(MINUTE)
    app.clock.jump(5 * MINUTE)
    await app.clock.advance(MINUTE)
    await app.clock.advance(MINUTE)
    expect((await see(path)).body).toMatch(/\d slots? skipped/)
    await send(`${path}/delete`)
  })

  test('is paused, resumed, run by hand and deleted, each by whom the audit log says', async () => {
    const { app, target } = world
    const { id, send, see, path, job, now } = await withJob()
    expect(landed(await send(`${path}/pause`))).toBe(path)
    expect((await now()).body.is_active).toBe(false)
    expect((await see(path)).body).toContain('Paused; would run every minute.')
    const sent = target.requests.length
    landed(await send(`${path}/run`))
    await app.clock.settled()
    await app.clock.advance(1000)
    expect(target.requests.length).toBe(sent + 1)
    expect((await see(path)).body).toContain('hand')
    landed(await send(`${path}/resume`))
    expect((await now()).body.is_active).toBe(true)
    expect(landed(await send(`${path}/delete`))).toBe('/jobs')
    expect((await now()).status).toBe(404)
    expect((await see(path)).status).toBe(404)
    for (const action of ['job.updated', 'job.run', 'job.deleted'])
      expect(audited(app, action).at(-1)).toMatchObject({
        actor_kind: 'operator',
        actor_id: id,
        object: `job:${job.id}`,
      })
  })

  test('changes only in what was changed, and says so when nothing was', async () => {
    const { app } = world
    const headers = { 'X-A': '1', 'X-B': '2' }
    const { send, path, now } = await withJob({ headers, body: 'one\r\ntwo', is_active: false })
    const typed = fields({ headers: 'X-A: 1\r\nX-B: 2', body: 'one\r\ntwo' })
    const same = await send(`${path}/edit`, typed)
    expect(same.headers.get('location')).toEndWith('?done=unchanged')
    const before = audited(app, 'job.updated').length
    landed(await send(`${path}/edit`, { ...typed, name: 'renamed' }))
    expect((await now()).body).toMatchObject({ name: 'renamed', body: 'one\r\ntwo', headers })
    expect(audited(app, 'job.updated')).toHaveLength(before + 1)
    const wrong = await send(`${path}/edit`, { ...typed, schedule: '61 * * * *' })
    expect([wrong.status, wrong.body.includes('value="61 * * * *"')]).toEqual([422, true])
    expect((await now()).body.schedule).toBe('* * * * *')
  })

  test('by a name that is meant to harm is shown as text', async () => {
    for (const name of [...HOSTILE, 'x'.repeat(255)]) {
      const { see, path } = await withJob({ name, body: name.repeat(40), is_active: false })
      for (const page of ['/jobs', path, `${path}/edit`]) {
        const { status, body } = await see(page)
        expect(status).toBe(200)
        for (const mark of ['<script>alert', '<img src=x']) expect(body).not.toContain(mark)
      }
      expect((await see('/jobs')).body).not.toContain('\u202egnp.exe\u2066<')
    }
  })
})
