import { expect, test } from 'bun:test'
import { exportOf, importInto } from '../../../platform/portable/fixture.ts'
import { fileOf } from '../../../platform/portable/lines.ts'
import { bootTestApp } from '../../../support/app.ts'
import { HOUR, type Json, MONITORS, useMonitors } from './support.ts'

const { app, fresh } = await useMonitors()

test('A new monitor has every field, the optional ones with their defaults', async () => {
  const { acme, api, clock } = await fresh()
  const { status, body } = await api.post(MONITORS, { name: 'backup', schedule: '0 3 * * *' })
  const now = new Date(clock.now()).toISOString()
  const none = { started_at: null, last_ping_at: null, last_duration_ms: null, expected_at: null }
  expect([status, body]).toEqual([
    201,
    {
      ...{ id: expect.any(String), tenant_id: acme.id, name: 'backup', tags: [], notes: '' },
      ...{ period_seconds: null, schedule: '0 3 * * *', time_zone: 'UTC', grace_seconds: 3600 },
      ...{ state: 'new', state_since: now, ...none, down_at: null },
      ping_url: expect.stringMatching(/^http:.*\/ping\/[0-9A-Za-z]{43}$/),
      badge_url: expect.stringMatching(/^http:.*\/badge\/[0-9A-Za-z]{43}\.svg$/),
      ...{ created_at: now, updated_at: now },
    },
  ])
})

test.each<[string, Json, string]>([
  ['neither', { name: 'x' }, 'period_seconds: must be set, or schedule'],
  ['both', { period_seconds: 60, schedule: '* * * * *' }, 'schedule: must not be set together'],
  ['too often', { period_seconds: 59 }, 'period_seconds: must be a whole number from 60'],
  ['too rarely', { period_seconds: 366 * 86_400 + 1 }, 'period_seconds: must be a whole number'],
  ['part of a second', { period_seconds: 60.5 }, 'period_seconds: must be a whole number'],
  ['text', { period_seconds: '60' }, 'period_seconds: must be a whole number'],
  ['never', { schedule: '0 0 31 2 *' }, 'schedule: '],
  ['six fields', { schedule: '0 0 0 * * *' }, 'schedule: '],
  ['no grace time', { period_seconds: 60, grace_seconds: 0 }, 'grace_seconds: must be a whole'],
  ['no zone', { period_seconds: 60, time_zone: 'Mars' }, 'time_zone: must be a time zone such as'],
  ['a tag of two words', { period_seconds: 60, tags: ['a b'] }, 'tags.0: must be a word'],
  [
    '21 tags',
    { period_seconds: 60, tags: Array(21).fill('a') },
    'tags: must be a list of up to 20',
  ],
  ['long notes', { period_seconds: 60, notes: 'x'.repeat(2001) }, 'notes: must be a string of up'],
])('A monitor with %s is refused', async (_, fields, message) => {
  const { api } = await fresh()
  const { status, body } = await api.post(MONITORS, { name: 'x', ...fields })
  expect([status, body.error]).toEqual([400, expect.stringContaining(message)])
  expect((await api.get(MONITORS)).body).toEqual([])
})

test('A change leaves other fields, and a period and a schedule replace each other', async () => {
  const { create, call, ping, read } = await fresh()
  const monitor = await create({ tags: ['a', 'b', 'a'], notes: 'n' })
  const change = (body: Json) => call(200, 'patch', `/${monitor.id}`, body)
  expect(monitor.tags).toEqual(['a', 'b'])
  expect(await change({ name: 'other' })).toMatchObject({ ...monitor, name: 'other' })
  const scheduled = { schedule: '0 3 * * *', period_seconds: null }
  expect(await change({ schedule: '0 3 * * *' })).toMatchObject(scheduled)
  expect(await change({ ...scheduled, tags: [] })).toMatchObject({ ...scheduled, tags: [] })
  const berlin = await change({ time_zone: 'europe/berlin' })
  expect(berlin).toMatchObject({ ...scheduled, time_zone: 'Europe/Berlin' })
  await ping(monitor)
  expect((await read(monitor)).expected_at).toBe('2026-03-02T02:00:00.000Z')
  expect(await change({ period_seconds: 60 })).toMatchObject({ period_seconds: 60, schedule: null })
  await call(400, 'patch', `/${monitor.id}`, { period_seconds: null })
  await call(400, 'patch', `/${monitor.id}`, { period_seconds: 60, schedule: '* * * * *' })
})

test('The list is filtered by tag and state', async () => {
  const { create, call, ping } = await fresh()
  const [one, two] = [await create({ tags: ['db'] }), await create({ tags: ['db', 'eu'] })]
  await ping(two)
  const found = async (query: string) =>
    (await call(200, 'get', query)).map(({ id }: Json) => [one.id, two.id].indexOf(id))
  expect(await found('')).toEqual([1, 0])
  expect(await found('?tag=db')).toEqual([1, 0])
  expect(await found('?tag=eu')).toEqual([1])
  expect(await found('?tag=d')).toEqual([])
  expect(await found('?state=new')).toEqual([0])
  expect(await found('?tag=db&state=up')).toEqual([1])
  await call(400, 'get', '?state=gone')
})

test('A rotated ping URL stops working, and the new one works', async () => {
  const { create, call, ping, pingsOf } = await fresh()
  const monitor = await create()
  await ping(monitor)
  const rotated = await call(200, 'post', `/${monitor.id}/rotate-token`)
  expect(rotated).toMatchObject({ id: monitor.id, badge_url: monitor.badge_url })
  expect((await ping(monitor))[0]).toBe(404)
  expect(await ping(rotated)).toEqual([200, 'OK'])
  expect(await pingsOf(monitor)).toHaveLength(2)
})

test('A deleted monitor leaves nothing', async () => {
  const { acme, create, call, ping } = await fresh()
  const monitor = await create()
  await ping(monitor)
  await call(204, 'delete', `/${monitor.id}`)
  expect((await ping(monitor))[0]).toBe(404)
  for (const table of ['monitors', 'monitor_pings', 'monitor_transitions'])
    expect(app.db.client.query(`select * from ${table} where tenant_id = ?`).all(acme.id)).toEqual(
      [],
    )
})

test('A tenant has at most 1,000 monitors', async () => {
  const { create, call } = await fresh()
  await create()
  app.db.client.run(
    `with recursive one(i) as (select 1 union all select i + 1 from one where i < 999)
     insert into monitors (id, tenant_id, name, tags, notes, token_hash, token, badge_token,
       period_seconds, time_zone, grace_seconds, state, state_since, ping_count, transition_count,
       created_at, updated_at)
     select id || i, tenant_id, name, tags, notes, token_hash || i, token, badge_token || i,
       period_seconds, time_zone, grace_seconds, state, state_since, 0, 0, created_at, updated_at
     from monitors, one where seq = (select max(seq) from monitors)`,
  )
  const { error } = await call(409, 'post', '', { name: 'one more', period_seconds: 60 })
  expect(error).toContain('1000 monitors')
})

test.each(['billing', 'renewal'] as const)(
  'A tenant that is suspended for %s creates no monitor, but its monitors go on',
  async (reason) => {
    const { acme, clock, create, call, ping, storyOf } = await fresh()
    const monitor = await create()
    await app.platform.tenants.suspend({ kind: 'cli', source: 'test' }, acme.id, reason)
    await call(402, 'post', '', { name: 'x', period_seconds: 60 })
    expect(await ping(monitor)).toEqual([200, 'OK'])
    await clock.advance(HOUR / 2)
    expect(storyOf(monitor)).toEqual(['up', 'late', 'down'])
  },
)

test('Pings are not counted as requests', async () => {
  const { acme, create, ping } = await fresh()
  const monitor = await create()
  const requests = async () => {
    await app.platform.metering.flush()
    const query = 'select sum(requests) as n from usage_days where tenant_id = ?'
    return app.db.client.query<{ n: number }, [string]>(query).get(acme.id)?.n
  }
  const before = await requests()
  await ping(monitor)
  expect(await requests()).toBe(before)
})

test('A badge shows the state and a label, as text', async () => {
  const { create, ping } = await fresh()
  const monitor = await create({ name: 'secret name' })
  await ping(monitor)
  const path = new URL(monitor.badge_url).pathname
  const { status, headers, body } = await app.raw(
    `${path}?label=${encodeURIComponent('<script>"\u202e&')}`,
  )
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    ...[200, 'image/svg+xml; charset=utf-8', 'public, max-age=30'],
  ])
  expect(body).toContain('aria-label="&lt;script&gt;&quot;&amp;: up"')
  expect(body).not.toMatch(/secret|script>|\u202e/)
  expect((await app.raw(path)).body).toContain('aria-label="up"')
})

test('A monitor moves with its tenant and URLs, and has its whole time again', async () => {
  const { acme, clock, create, ping } = await fresh()
  const [waiting, paused] = [await create({ tags: ['db'] }), await create()]
  await ping(waiting)
  await app.clockwork.monitors.pause(
    { tenantId: acme.id, actor: { kind: 'cli', source: 'test' } } as never,
    paused.id,
  )
  await using home = await bootTestApp({ start: new Date(clock.now() + HOUR).toISOString() })
  const lines = exportOf(app, acme.id)
  const other = lines.map((line) =>
    line.kind === 'monitor' ? { ...line, token: 'x'.repeat(43) } : line,
  )
  await expect(importInto(home, fileOf(other))).rejects.toThrow('monitor.token: must be the token')
  await importInto(home, fileOf(lines))
  const caller = { tenantId: acme.id } as never
  const expected_at = new Date(home.clock.now() + 10 * 60_000).toISOString()
  expect(home.clockwork.monitors.list(caller)).toMatchObject([
    { ...paused, state: 'paused', state_since: expect.any(String), updated_at: expect.any(String) },
    {
      ...waiting,
      state: 'up',
      last_ping_at: expect.any(String),
      expected_at,
      down_at: expect.any(String),
    },
  ])
  expect((await home.raw(new URL(waiting.ping_url).pathname)).body).toBe('OK')
})
