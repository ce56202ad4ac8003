import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { audited } from '../console-fixture.ts'
import { HOSTILE, jobsFixture, landed, listed, NOBODYS, pageTo, tenantWith } from './fixture.ts'

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

const api = (over: Record<string, unknown> = {}) => ({
  name: 'report',
  schedule: '* * * * *',
  url: fixture.target.url,
  ...over,
})

describe('a job', () => {
  async function withJob(over: Record<string, unknown> = {}) {
    const tenant = await tenantWith(fixture.app)
    const job = (await tenant.api.post('/v1/clockwork/jobs', api(over))).body
    return {
      ...tenant,
      job,
      path: `/jobs/${job.id}`,
      now: () => tenant.api.get(`/v1/clockwork/jobs/${job.id}`),
    }
  }

  test('that failed says why, what was sent, what came back and when it is tried again', async () => {
    const { app, target } = fixture
    const { see, send, path } = await withJob({ headers: { 'X-Token': 'abc' }, body: '{"a":1}' })
    target.answers(() => new Response('{"reason":"<b>down</b>"}', { status: 503 }))
    await app.clock.advance(MINUTE)
    target.answers(() => new Response('ok'))
    const page = (await see(path)).body
    expect(page).toContain('Last run failed')
    expect(page).toContain('next attempt')
    for (const part of [
      'X-Token: abc',
      'X-Clockwork-Attempt: 1',
      '503',
      'Next attempt',
      'Selected run',
    ])
      expect(page).toContain(part)
    expect(page).not.toContain('<b>down</b>')
    await send(`${path}/delete`)
  })

  test('shows the run that the address names, and none of another job', async () => {
    const { app } = fixture
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

  test('leads from run to run, and lists them all where that is asked for', async () => {
    const { app } = fixture
    const { see, send, path } = await withJob()
    await app.clock.advance(3 * MINUTE)
    const page = (await see(path)).body
    expect([pageTo(page, 'next'), listed(page)]).toEqual(['', ''])
    const middle = (await see(pageTo(page, 'prev'))).body
    expect(middle).toContain('2 of 3')
    expect(pageTo((await see(pageTo(middle, 'next'))).body, 'next')).toBe('')
    const list = listed((await see(`${path}?list=all`)).body)
    expect(list.match(/<tr/g)).toHaveLength(4)
    await send(`${path}/delete`)
  })

  test('says how late its runs began', async () => {
    const { app } = fixture
    const { see, send, path } = await withJob()
    await app.clock.advance(2 * MINUTE)
    expect((await see(path)).body).toContain('Start delay of the last 2 attempts. Median')
    await send(`${path}/delete`)
  })

  test('is looked at again as long as a run is under way, and no longer', async () => {
    const { app } = fixture
    const { see, send, path } = await withJob({ is_active: false })
    expect((await see(path)).body).not.toContain('job-watch')
    landed(await send(`${path}/run`))
    const asked = (await see(`${path}?done=asked`)).body
    expect(asked).toContain('A run is in progress.')
    expect(asked).toContain(`id="job-watch" hidden hx-get="/console${path}"`)
    await app.clock.settled()
    await app.clock.advance(1000)
    expect((await see(path)).body).not.toContain('job-watch')
    await send(`${path}/delete`)
  })

  test('leaves a gap where slots passed without a run', async () => {
    const { app } = fixture
    const { see, send, path } = await withJob()
    await app.clock.advance(MINUTE)
    app.clock.jump(5 * MINUTE)
    await app.clock.advance(MINUTE)
    await app.clock.advance(MINUTE)
    expect((await see(path)).body).toMatch(/\d slots? skipped/)
    await send(`${path}/delete`)
  })

  test('is paused, resumed, run by hand and deleted, each by whom the audit log says', async () => {
    const { app, target } = fixture
    const { id, send, see, path, job, now } = await withJob()
    expect(landed(await send(`${path}/pause`))).toBe(path)
    expect((await now()).body.is_active).toBe(false)
    expect((await see(path)).body).toContain('Paused. Schedule: every minute.')
    const sent = target.requests.length
    landed(await send(`${path}/run`))
    await app.clock.settled()
    await app.clock.advance(1000)
    expect(target.requests.length).toBe(sent + 1)
    expect((await see(path)).body).toContain('Manual')
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
    const { app } = fixture
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
