import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  ACTOR,
  at,
  bootFixture,
  count,
  DELAYED,
  type Fixture,
  HALF_MINUTE,
  HOUR,
  JOBS,
  jobsOf,
} from './support.ts'

/** Every route; `x` stands where the id of a job goes. */
const ROUTES = [
  ['GET', JOBS],
  ['POST', JOBS],
  ['POST', `${JOBS}/preview`],
  ['GET', `${JOBS}/x`],
  ['PATCH', `${JOBS}/x`],
  ['DELETE', `${JOBS}/x`],
  ['POST', `${JOBS}/x/run`],
  ['GET', `${JOBS}/x/executions`],
  ['GET', DELAYED],
  ['POST', DELAYED],
  ['GET', `${DELAYED}/x`],
  ['DELETE', `${DELAYED}/x`],
  ['GET', `${DELAYED}/x/executions`],
] as const

const SECRET = /^svc_clockwork_[0-9A-Za-z]{43}$/

let fixture: Fixture
let cron: { id: string }
let delayed: { id: string }
beforeAll(async () => {
  fixture = await bootFixture()
  cron = await fixture.createJob({ is_active: false })
  delayed = await fixture.createDelayed({ run_at: at('23:00:00') })
})
afterAll(() => fixture.end())

const pathOf = (path: string) =>
  path.replace('/x', `/${path.startsWith(JOBS) ? cron.id : delayed.id}`)

const hasBody = (method: string) => method === 'POST' || method === 'PATCH'

/** The answer of every route to one credential; a body is sent as `type`. */
async function everyRoute(credential: string | undefined, body = '{}', type = 'application/json') {
  const answers = []
  for (const [method, path] of ROUTES) {
    const headers = {
      ...(credential !== undefined && { authorization: credential }),
      ...(hasBody(method) && { 'content-type': type }),
    }
    const init = { method, headers, body: hasBody(method) ? body : undefined }
    answers.push({ route: `${method} ${path}`, ...(await fixture.app.raw(pathOf(path), init)) })
  }
  return answers
}

async function expectRefused(credential: string | undefined, status: number, words: string) {
  for (const answer of await everyRoute(credential)) {
    expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(words) } })
    expect(Object.keys(answer.body)).toEqual(['error'])
    expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
  }
  await expectUntouched()
}

async function expectUntouched() {
  expect(await fixture.listJobs()).toEqual([cron])
  expect(await fixture.listDelayed()).toEqual([delayed])
  expect(count(fixture.app, 'runs')).toBe(1)
}

const otherDigit = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')

describe('every route answers 401', () => {
  test('without a credential', () => expectRefused(undefined, 401, 'missing API key'))

  test.each([
    '',
    'Bearer',
    'Bearer ',
    'garbage',
    'Basic dXNlcjpwYXNz',
    'Bearer garbage',
    'Bearer svc_clockwork_',
    'Bearer svc_clockwork_short',
  ])('to %j', (credential) => expectRefused(credential, 401, 'API key'))

  test('to a key with a wrong check digit', () =>
    expectRefused(`Bearer ${otherDigit(fixture.acme.secret)}`, 401, 'invalid or revoked'))

  test('to a well-formed key that nobody was given', async () => {
    await using other = await bootFixture()
    expect(other.acme.secret).toMatch(SECRET)
    await expectRefused(`Bearer ${other.acme.secret}`, 401, 'invalid or revoked')
  })

  test('to a revoked key', async () => {
    const { id, key } = await fixture.acme.key()
    expect(await fixture.app.client(key).get(JOBS)).toMatchObject({ status: 200 })

    await fixture.app.platform.keys.revoke(ACTOR, id)

    await expectRefused(`Bearer ${key}`, 401, 'invalid or revoked')
  })

  test('to a rotated key once its grace has passed, and not before', async () => {
    const { id, key } = await fixture.acme.key()
    const { key: successor } = await fixture.app.platform.keys.rotate(ACTOR, id, HOUR)
    await fixture.clock.advance(HOUR - 1)
    expect(await fixture.app.client(key).get(JOBS)).toMatchObject({ status: 200 })

    await fixture.clock.advance(1)

    await expectRefused(`Bearer ${key}`, 401, 'invalid or revoked')
    expect(await fixture.app.client(successor).get(JOBS)).toMatchObject({ status: 200 })
  })
})

describe('every route answers 403', () => {
  test.each(['gate', 'relay', 'passepartout'] as const)('to a key of %s', async (engine) => {
    for (const environment of ['live', 'test'] as const) {
      const { key } = await fixture.acme.key(engine, environment)
      await expectRefused(`Bearer ${key}`, 403, `this is a ${engine} key`)
    }
  })

  test('to a key without the scope, naming it', async () => {
    const { key } = await fixture.acme.key('clockwork', undefined, ['reports:read'])
    await expectRefused(`Bearer ${key}`, 403, 'the key lacks the scope clockwork')
  })
})

describe('who calls comes before what is sent', () => {
  const BAD = [
    ['malformed', '{', 'application/json'],
    ['of another type', 'a=b', 'text/plain'],
    ['too large', 'x'.repeat(2_000_000), 'application/json'],
    ['of wrong fields', '{"name":5}', 'application/json'],
  ] as const

  test.each(BAD)('401 comes before a body that is %s', async (_, body, type) => {
    for (const answer of await everyRoute(undefined, body, type)) expect(answer.status).toBe(401)
  })

  test.each(BAD)('403 comes before a body that is %s', async (_, body, type) => {
    const { key } = await fixture.acme.key('relay')
    for (const answer of await everyRoute(`Bearer ${key}`, body, type))
      expect(answer.status).toBe(403)
  })
})

test('the scheme of the credential is read in any case', async () => {
  for (const scheme of ['bearer', 'BEARER', 'Bearer  '])
    expect(
      await fixture.app.raw(JOBS, {
        headers: { authorization: `${scheme} ${fixture.acme.secret}` },
      }),
    ).toMatchObject({ status: 200 })
})

describe('to another tenant', () => {
  test('the jobs of this one are not there, and stay as they are', async () => {
    const other = await fixture.app.tenant('Other')

    for (const [method, path] of ROUTES.filter(([, path]) => path.includes('/x'))) {
      const send = other.api[method.toLowerCase() as 'get']
      const answer = await send(pathOf(path), hasBody(method) ? {} : undefined)
      expect({ route: `${method} ${path}`, ...answer }).toMatchObject({
        status: 404,
        body: { error: 'job not found' },
      })
    }
    await expectUntouched()
  })

  test('lists show its own jobs only', async () => {
    const other = await fixture.app.tenant('Other')
    const { createJob, createDelayed, listJobs, listDelayed } = jobsOf(
      other.api,
      fixture.target.url,
    )
    const [ownCron, ownDelayed] = [
      await createJob({ is_active: false }),
      await createDelayed({ run_at: at('23:00:00') }),
    ]

    expect(ownCron.tenant_id).toBe(other.id)
    expect(await listJobs()).toEqual([ownCron])
    expect(await listDelayed()).toEqual([ownDelayed])
    expect(await fixture.listJobs()).toEqual([cron])
    await other.api.delete(`${DELAYED}/${ownDelayed.id}`)
  })
})

test('all keys of a tenant see the same jobs', async () => {
  const { key } = await fixture.acme.key()

  expect((await fixture.app.client(key).get(JOBS)).body).toEqual([cron])
})

test('the limit of jobs of one tenant is none of the other', async () => {
  await using own = await bootFixture()
  const { app, acme, createJob } = own
  const other = await app.tenant('Other')
  await createJob()
  app.db.client.prepare('update job_counts set cron_jobs = 10000 where tenant_id = ?').run(acme.id)

  await jobsOf(other.api, own.target.url).createJob()
})

test('jobs of both tenants run, each with its own executions', async () => {
  await using own = await bootFixture()
  const other = jobsOf((await own.app.tenant('Other')).api, own.target.url)
  const [mine, theirs] = [await own.createJob(), await other.createJob()]

  await own.clock.advance(HALF_MINUTE)

  expect(await own.executionsOf(mine)).toMatchObject([{ job_id: mine.id }])
  expect(await other.executionsOf(theirs)).toMatchObject([{ job_id: theirs.id }])
  expect(own.target.requests).toHaveLength(2)
})
