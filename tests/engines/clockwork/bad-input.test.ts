import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { testConfig } from '../../support/config.ts'
import { at, bootFixture, count, DELAYED, type Fixture, JOBS } from './support.ts'

const PREVIEW = `${JOBS}/preview`
const { maxBodyBytes } = testConfig().server

/** One fixture for all: what is refused leaves it as it was. */
let fixture: Fixture
let job: { id: string }
beforeAll(async () => {
  fixture = await bootFixture()
  job = await fixture.createJob()
})
afterAll(() => fixture.end())

const goodJob = () => ({ name: 'n', schedule: '* * * * *', url: fixture.target.url })
const goodDelayed = () => ({ name: 'n', run_at: at('12:30:00'), url: fixture.target.url })

/** A 400 whose sentence names field and rule, and nothing stored. */
async function expectRefused(answer: Promise<{ status: number; body: unknown }>, rule: string) {
  expect(await answer).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining(rule) },
  })
  expect(Object.keys((await answer).body as object)).toEqual(['error'])
  expect(JSON.stringify((await answer).body)).not.toMatch(/"(\w+): \1: /)
  expect(await fixture.listJobs()).toEqual([job])
  for (const table of ['delayed_jobs', 'runs']) expect(count(fixture.app, table)).toBe(0)
}

const NAME = [
  [3, 'name: must be a string of 1 to 255 characters'],
  ['', 'name: must be a string of 1 to 255 characters'],
  [null, 'name: must be a string'],
  ['x'.repeat(256), 'name: must be a string of 1 to 255 characters'],
] as const

const URLS = [
  [3, 'url: must be an http or https URL'],
  ['', 'url: must be an absolute http or https URL'],
  ['example.com', 'url: must be an absolute http or https URL'],
  ['ftp://example.com/', 'url: must start with http or https, not ftp'],
  ['file:///etc/passwd', 'url: must start with http or https, not file'],
  ['https://user:pass@example.com/', 'url: must not contain credentials; send them in a header'],
  ['https://user@example.com/', 'url: must not contain credentials; send them in a header'],
  ['http://10.0.0.1/', '10.0.0.1 is a private address'],
  ['http://172.16.0.1/', '172.16.0.1 is a private address'],
  ['http://192.168.1.1:8080/', '192.168.1.1 is a private address'],
  ['http://[fd00::1]/', 'fd00::1 is'],
  ['http://[::1]/', '::1 is a loopback address'],
  ['http://0x0a000001/', '10.0.0.1 is a private address'],
  ['http://169.254.169.254/latest/meta-data', 'link-local address'],
  ['http://[fe80::1]/', 'link-local address'],
  ['http://localhost/', 'localhost is a loopback hostname'],
  ['http://intranet/', 'intranet is a single-label hostname'],
  ['http://intranet./', 'intranet is a single-label hostname'],
] as const

const METHODS = [
  ['HEAD', 'method: must be one of GET, POST, PUT, PATCH, DELETE'],
  ['get', 'method: must be one of GET'],
  ['', 'method: must be one of GET'],
  [5, 'method: must be one of GET'],
  [null, 'method: must be one of GET'],
] as const

const HEADERS = [
  ['abc', 'headers: must be an object of header names and string values'],
  ['{"a":"b"}', 'headers: must be an object'],
  [[], 'headers: must be an object'],
  [['a'], 'headers: must be an object'],
  [null, 'headers: must be an object'],
  [5, 'headers: must be an object'],
  [{ 'X-A': 1 }, 'headers.X-A: must be a string'],
  [{ 'X-A': null }, 'headers.X-A: must be a string'],
  [{ 'X-A': ['b'] }, 'headers.X-A: must be a string'],
  [
    { 'bad name': 'x' },
    'headers: must have names of letters, digits and hyphens, unlike "bad name"',
  ],
  [{ '': 'x' }, 'headers: must not have a header without a name'],
  [
    { 'X-A': 'x\r\nX-Clockwork-Attempt: 9' },
    'headers.X-A: must only have characters that are allowed in a header',
  ],
  [{ 'X-A': 'x\0' }, 'headers.X-A: must only have characters that are allowed in a header'],
  [{ 'X-A': '€' }, 'headers.X-A: must only have characters that are allowed in a header'],
] as const

const BODIES = [
  [5, 'body: must be a string or null'],
  [{}, 'body: must be a string or null'],
  [[], 'body: must be a string or null'],
  [true, 'body: must be a string or null'],
] as const

const SCHEDULES = [
  [3, 'schedule: must be a cron expression of five fields'],
  [null, 'schedule: must be a cron expression'],
  ['', 'schedule: '],
  ['* * * *', 'schedule: must have 5 fields, not 4'],
  ['* * * * * *', 'schedule: must have 5 fields, not 6'],
  ['60 * * * *', 'schedule: minute 60 is outside 0-59'],
  ['* 24 * * *', 'schedule: hour 24 is outside 0-23'],
  ['* * 0 * *', 'is outside 1-31'],
  ['* * * 13 *', 'schedule: month 13 is outside 1-12'],
  ['* * * * 8', 'is outside 0-7'],
  ['0 0 1 * 1', 'put * in one of them'],
  ['@daily', 'schedule: must be 5 fields; macros such as @daily are not supported'],
  ['0 0 * * MON', 'write numbers, not names'],
  ['0 0 31 2 *', 'schedule: never runs: 31 February does not exist'],
  ['0 0 31 4,6 *', 'schedule: '],
  [`${'1,'.repeat(125)}1 * * * *`, 'schedule: must have at most 255 characters'],
] as const

const ACTIVE = [
  ['true', 'is_active: must be true or false'],
  [1, 'is_active: must be true or false'],
  [null, 'is_active: must be true or false'],
] as const

const RUN_AT = [
  [5, 'run_at: must be a time'],
  [null, 'run_at: must be a time'],
  ['', 'run_at: must be a time'],
  ['tomorrow', 'run_at: must be a time'],
  ['1772366430000', 'run_at: must be a time'],
  ['2026-03-02', 'run_at: must be a time with date and zone'],
  ['2026-03-02T00:00:00', 'run_at: must be a time with date and zone'],
  ['2026-03-02 00:00:00Z', 'run_at: must be a time'],
  ['2026-02-30T00:00:00Z', 'run_at: must be a time'],
  ['2027-02-29T00:00:00Z', 'run_at: must be a time'],
  ['2026-03-02T24:00:00Z', 'run_at: must be a time'],
  ['2026-03-02T23:60:00Z', 'run_at: must be a time'],
  ['2026-13-01T00:00:00Z', 'run_at: must be a time'],
  ['2026-03-02T00:00:00+25:00', 'run_at: must be a time'],
  ['9999-12-31T23:59:59-01:00', 'run_at: must be a time'],
  [at('12:00:29'), 'run_at: must not be in the past'],
  ['2026-03-01T12:00:30+00:01', 'run_at: must not be in the past'],
  ['1970-01-01T00:00:00Z', 'run_at: must not be in the past'],
] as const

const of = (field: string, cases: readonly (readonly [unknown, string])[]) =>
  cases.map(([value, rule]) => [field, value, rule] as const)

const REQUEST = [
  ...of('name', NAME),
  ...of('url', URLS),
  ...of('method', METHODS),
  ...of('headers', HEADERS),
  ...of('body', BODIES),
]
const CRON = [...REQUEST, ...of('schedule', SCHEDULES), ...of('is_active', ACTIVE)]

describe('a cron job is not made', () => {
  test.each(CRON)('with %s %j', (field, value, rule) =>
    expectRefused(fixture.api.post(JOBS, { ...goodJob(), [field]: value }), rule),
  )

  test.each(['name', 'schedule', 'url'])('without %s', (field) =>
    expectRefused(
      fixture.api.post(JOBS, { ...goodJob(), [field]: undefined }),
      `${field}: is required`,
    ),
  )
})

describe('a cron job is not changed', () => {
  test.each(CRON)('to %s %j', (field, value, rule) =>
    expectRefused(fixture.api.patch(`${JOBS}/${job.id}`, { name: 'new', [field]: value }), rule),
  )
})

describe('a delayed job is not made', () => {
  test.each([...REQUEST, ...of('run_at', RUN_AT)])('with %s %j', (field, value, rule) =>
    expectRefused(fixture.api.post(DELAYED, { ...goodDelayed(), [field]: value }), rule),
  )

  test.each(['name', 'run_at', 'url'])('without %s', (field) =>
    expectRefused(
      fixture.api.post(DELAYED, { ...goodDelayed(), [field]: undefined }),
      `${field}: is required`,
    ),
  )
})

describe('of a body that is not an object of JSON', () => {
  const WRITES = [
    ['POST', () => JOBS],
    ['PATCH', () => `${JOBS}/${job.id}`],
    ['POST', () => DELAYED],
    ['POST', () => PREVIEW],
  ] as const

  const send = (method: string, path: string, init: RequestInit) =>
    fixture.app.raw(path, {
      method,
      ...init,
      headers: { authorization: `Bearer ${fixture.acme.secret}`, ...init.headers },
    })

  test.each(['[]', '[{"name":"n"}]', 'null', '"text"', '5', 'true', ''])(
    '%j is refused',
    async (body) => {
      for (const [method, path] of WRITES)
        await expectRefused(
          send(method, path(), { body, headers: { 'content-type': 'application/json' } }),
          'body: must be a JSON object',
        )
    },
  )

  test.each(['{', '{"name": }', 'name=n', '{"a":1}{', "{'a':1}", '\u0000'])(
    '%j is refused as malformed',
    async (body) => {
      for (const [method, path] of WRITES)
        await expectRefused(
          send(method, path(), { body, headers: { 'content-type': 'application/json' } }),
          'body: must be JSON',
        )
    },
  )

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'json',
    'text/json5',
  ])('the content type %s answers 415', async (type) => {
    for (const [method, path] of WRITES) {
      const body = JSON.stringify(goodJob())
      const answer = await send(method, path(), { body, headers: { 'content-type': type } })
      expect(answer).toMatchObject({
        status: 415,
        body: { error: expect.stringContaining('application/json') },
      })
      expect(Object.keys(answer.body)).toEqual(['error'])
    }
    expect(await fixture.listJobs()).toEqual([job])
  })

  test('a missing content type answers 415', async () => {
    for (const [method, path] of WRITES) {
      const body = new TextEncoder().encode(JSON.stringify(goodJob()))
      expect(await send(method, path(), { body })).toMatchObject({ status: 415 })
    }
    expect(await fixture.listJobs()).toEqual([job])
  })

  test.each(['declared', 'streamed'])('more bytes than the limit, %s, answer 413', async (how) => {
    for (const [method, path] of WRITES) {
      const text = JSON.stringify({ ...goodJob(), body: 'x'.repeat(maxBodyBytes) })
      const headers = { 'content-type': 'text/plain' }
      const sized = { ...headers, 'content-length': `${text.length}` }
      const init =
        how === 'declared'
          ? { body: text, headers: sized }
          : { body: new Blob([text]).stream(), headers }
      const answer = await send(method, path(), init)
      expect(answer).toMatchObject({
        status: 413,
        body: { error: `body: must be at most ${maxBodyBytes} bytes` },
      })
    }
    expect(await fixture.listJobs()).toEqual([job])
  })
})

test('a body that just fits is taken', async () => {
  await using other = await bootFixture()
  const fields = { name: 'n', schedule: '* * * * *', url: other.target.url, body: '' }
  const room = maxBodyBytes - JSON.stringify(fields).length

  const answer = await other.api.post(JOBS, { ...fields, body: 'x'.repeat(room) })

  expect(answer.status).toBe(201)
  expect(answer.body.body).toHaveLength(room)
})

test('without networks of its own allowed, an installation refuses loopback', async () => {
  await using other = await bootFixture({ allow: [] })
  const { api, listJobs } = other

  for (const host of ['127.0.0.1', '127.1', '0.0.0.0', 'localhost', '[::ffff:127.0.0.1]'])
    expect(
      await api.post(JOBS, { name: 'n', schedule: '* * * * *', url: `http://${host}:1234/` }),
    ).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('url: must be publicly reachable') },
    })
  expect(await listJobs()).toEqual([])
})

describe('an id that is not there', () => {
  const UNKNOWN = [
    '01890000-0000-7000-8000-000000000000',
    'nothing',
    '%00',
    '%zz',
    "'%20or%201=1",
    'ü',
  ]

  test.each(UNKNOWN)('%s answers 404 on every route', async (id) => {
    for (const [method, path, body] of [
      ['get', `${JOBS}/${id}`],
      ['patch', `${JOBS}/${id}`, { name: 'x' }],
      ['delete', `${JOBS}/${id}`],
      ['post', `${JOBS}/${id}/run`],
      ['get', `${JOBS}/${id}/executions`],
      ['get', `${DELAYED}/${id}`],
      ['delete', `${DELAYED}/${id}`],
      ['get', `${DELAYED}/${id}/executions`],
    ] as const)
      expect(await fixture.api[method](path, body)).toMatchObject({
        status: 404,
        body: { error: 'job not found' },
      })
  })

  test('answers 404 when it is that of the other kind of job', async () => {
    await using other = await bootFixture()
    const { api, createJob, createDelayed } = other
    const [cron, delayed] = [await createJob(), await createDelayed()]

    expect(await api.get(`${DELAYED}/${cron.id}`)).toMatchObject({ status: 404 })
    expect(await api.get(`${DELAYED}/${cron.id}/executions`)).toMatchObject({ status: 404 })
    expect(await api.delete(`${DELAYED}/${cron.id}`)).toMatchObject({ status: 404 })
    expect(await api.get(`${JOBS}/${delayed.id}`)).toMatchObject({ status: 404 })
    expect(await api.get(`${JOBS}/${delayed.id}/executions`)).toMatchObject({ status: 404 })
    expect(await api.post(`${JOBS}/${delayed.id}/run`)).toMatchObject({ status: 404 })
    expect(await api.delete(`${JOBS}/${delayed.id}`)).toMatchObject({ status: 404 })
  })

  test('is looked for only once the body is in order', () =>
    expectRefused(fixture.api.patch(`${JOBS}/nothing`, { schedule: 'bad' }), 'schedule: '))
})

describe('a method that a path does not have answers 405 and names those that it has', () => {
  test.each([
    ['PUT', JOBS, 'GET, POST'],
    ['PATCH', JOBS, 'GET, POST'],
    ['DELETE', JOBS, 'GET, POST'],
    ['POST', `${JOBS}/x`, 'GET, PATCH, DELETE'],
    ['PUT', `${JOBS}/x`, 'GET, PATCH, DELETE'],
    ['GET', `${JOBS}/x/run`, 'POST'],
    ['DELETE', `${JOBS}/x/run`, 'POST'],
    ['POST', `${JOBS}/x/executions`, 'GET'],
    ['DELETE', DELAYED, 'GET, POST'],
    ['PATCH', `${DELAYED}/x`, 'GET, DELETE'],
    ['DELETE', `${DELAYED}/x/executions`, 'GET'],
  ])('%s %s', async (method, path, allow) => {
    const answer = await fixture.app.raw(path, {
      method,
      headers: { authorization: `Bearer ${fixture.acme.secret}` },
    })

    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe(allow)
    expect(answer.body).toEqual({ error: expect.stringContaining(allow) })
  })

  test('a path that is not there answers 404', async () => {
    for (const path of [
      '/v1/clockwork',
      '/v1/clockwork/nothing',
      `${JOBS}/x/y`,
      `${DELAYED}/x/run`,
    ])
      expect(await fixture.api.get(path)).toMatchObject({
        status: 404,
        body: { error: expect.stringContaining('no such route') },
      })
  })
})
