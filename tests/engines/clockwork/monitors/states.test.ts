import { expect, test } from 'bun:test'
import { HOUR, type Json, MINUTE, useMonitors } from './support.ts'

const { app, fresh } = await useMonitors()

/** Pings and minutes that pass, and the state that follows with the minute in which it is due next. */
test.each<[string, Json, (string | number)[], string, number | null]>([
  ['expects nothing before its first ping', {}, [90], 'new', null],
  ['is up after a ping', {}, ['', 9], 'up', 1],
  ['is late after its period', {}, ['', 10], 'late', 5],
  ['is down after its grace time', {}, ['', 15], 'down', null],
  ['is down, however long after', {}, ['', 90], 'down', null],
  ['is up again with the next ping', {}, ['', 15, ''], 'up', 10],
  ['is up after a late ping', {}, ['', 12, ''], 'up', 10],
  ['is up with exit code 0', {}, ['/0'], 'up', 10],
  ['is down with any other', {}, ['', '/1'], 'down', null],
  ['is down after a failure, also if it is the first ping', {}, ['/fail', 90], 'down', null],
  ['is not changed by a log', {}, ['', 12, '/log'], 'late', 3],
  ['is down if its first run takes longer than the grace time', {}, ['/start', 5], 'down', null],
  ['is down if a run takes longer, before its period is over', {}, ['', '/start', 5], 'down', null],
  ['gets no more time by a start', {}, ['', 12, '/start'], 'late', 3],
  ['begins again with another start', {}, ['', '/start', 4, '/start', 4], 'up', 1],
  ['stays down at a start', {}, ['/fail', '/start', 90], 'down', null],
  ['waits for the run that began last', {}, ['/start?rid=a', '/start?rid=b', '?rid=a', 4], 'up', 1],
  ['is up when that one has ended', {}, ['/start?rid=a', '/start?rid=b', '?rid=b', 9], 'up', 1],
  ['ends any run by a ping without an ID', {}, ['/start?rid=a', '', 9], 'up', 1],
  ['is expected at the times of a schedule', { schedule: '5 * * * *' }, ['', 4], 'up', 1],
  ['is late from that time', { schedule: '5 * * * *' }, ['', 5], 'late', 5],
])('A monitor %s', async (_, fields, acts, state, minutes) => {
  const { clock, create, read, ping } = await fresh()
  clock.jump(HOUR - (clock.now() % HOUR))
  const monitor = await create(fields)
  for (const act of acts)
    if (typeof act === 'number') await clock.advance(act * MINUTE)
    else expect(await ping(monitor, act)).toEqual([200, 'OK'])
  const known = await read(monitor)
  const row = app.db.client.query<Json, [string]>('select due_at from monitors where id = ?')
  const { due_at } = row.get(monitor.id)
  expect([known.state, due_at === null ? null : (due_at - clock.now()) / MINUTE]).toEqual([
    state,
    minutes,
  ])
})

test('Each change of state is stored once, with its time', async () => {
  const { clock, create, read, ping, storyOf } = await fresh()
  const monitor = await create()
  await ping(monitor)
  const since = clock.now()
  await clock.advance(HOUR)
  expect(await read(monitor)).toMatchObject({
    state: 'down',
    state_since: new Date(since + 15 * MINUTE).toISOString(),
    expected_at: null,
  })
  await ping(monitor)
  await ping(monitor)
  expect(storyOf(monitor)).toEqual(['up', 'late', 'down', 'up'])
})

test('A paused monitor stores pings and stays paused; resumed, it expects one', async () => {
  const { clock, create, call, ping, pingsOf, storyOf } = await fresh()
  const monitor = await create()
  await ping(monitor)
  expect(await call(200, 'post', `/${monitor.id}/pause`)).toMatchObject({
    state: 'paused',
    expected_at: null,
  })
  await clock.advance(HOUR)
  await ping(monitor, '/fail')
  expect(await call(200, 'post', `/${monitor.id}/pause`)).toMatchObject({ state: 'paused' })
  expect(await call(200, 'post', `/${monitor.id}/resume`)).toMatchObject({ state: 'new' })
  expect(await call(200, 'post', `/${monitor.id}/resume`)).toMatchObject({ state: 'new' })
  await clock.advance(15 * MINUTE)
  expect(storyOf(monitor)).toEqual(['up', 'paused', 'new', 'late', 'down'])
  expect(await pingsOf(monitor)).toHaveLength(2)
})

test('A new period counts from the change, and ends being late, but not being down', async () => {
  const { clock, create, call, ping } = await fresh()
  const monitor = await create()
  const change = (body: Json) => call(200, 'patch', `/${monitor.id}`, body)
  await ping(monitor)
  await clock.advance(10 * MINUTE)
  expect(await change({ name: 'other' })).toMatchObject({ state: 'late' })
  expect(await change({ period_seconds: 60 })).toMatchObject({
    state: 'up',
    expected_at: new Date(clock.now() + MINUTE).toISOString(),
  })
  await ping(monitor, '/fail')
  expect(await change({ grace_seconds: 60 })).toMatchObject({ state: 'down', expected_at: null })
})

test('A monitor in a time zone that only a later version knows is down with each ping', async () => {
  const { acme, clock, create, read, ping, storyOf } = await fresh()
  const [unknown, other] = [await create({ schedule: '5 * * * *' }), await create()]
  app.db.client.run(`update monitors set time_zone = 'Mars/Olympus' where id = ?`, [unknown.id])
  for (const one of [unknown, other]) expect(await ping(one)).toEqual([200, 'OK'])
  expect(await read(unknown)).toMatchObject({ state: 'down', expected_at: null })
  const [alert] = app.platform.alerts.page(acme.id, 'open', { limit: 9 })
  expect(alert?.text).toContain('5 * * * * in Mars/Olympus')
  app.db.client.run(`update monitors set state = 'up', due_at = 1, expected_at = 1`)
  clock.jump(HOUR)
  await clock.advance(5000)
  expect([storyOf(unknown).at(-1), storyOf(other).at(-1)]).toEqual(['late', 'up'])
})

test('A monitor that is pinged often keeps its due time for a quarter of the wait, and still is late in time', async () => {
  const { clock, create, read, ping } = await fresh()
  const monitor = await create()
  const row = app.db.client.query<Json, [string]>('select due_at from monitors where id = ?')
  await ping(monitor)
  const { due_at: first } = row.get(monitor.id)
  await clock.advance(2 * MINUTE)
  await ping(monitor)
  expect(row.get(monitor.id)).toEqual({ due_at: first })
  await clock.advance(9 * MINUTE)
  expect([row.get(monitor.id).due_at - first, (await read(monitor)).state]).toEqual([
    2 * MINUTE,
    'up',
  ])
  await clock.advance(MINUTE)
  expect((await read(monitor)).state).toBe('late')
})
