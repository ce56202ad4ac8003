import { expect, test } from 'bun:test'
import { createMonitoring } from '../../../../src/engines/clockwork/monitors/index.ts'
import { bootTestApp } from '../../../support/app.ts'
import { expectDescribedType } from '../../relay/support.ts'
import { HOUR, MINUTE, monitorsOf, useMonitors } from './support.ts'

const { app, fresh } = await useMonitors()

/** The watch of a process that has just started, beside others that did so many minutes ago. */
function otherWatch(others: number[], onTransition = () => {}) {
  const list = () =>
    others.map((minutes, n) => ({
      ...{ id: `${n}`, host: 'h', pid: n, version: '1', heartbeatAt: 0, beat: 0 },
      startedAt: app.clock.now() - minutes * MINUTE,
    }))
  const instances = { ...app.platform.instances, list }
  const parts = { baseUrl: () => '', addressOf: () => undefined, maxBody: 0, onTransition }
  const monitoring = createMonitoring(
    { ...app.platform, instances },
    { ...parts, expect: () => {} },
  )
  return monitoring.watch
}

const passed = (watch: ReturnType<typeof otherWatch>) =>
  app.db.commit(() => watch.pass(app.clock.now()))

test('Two processes that watch move a monitor once', async () => {
  const { clock, create, ping, storyOf } = await fresh()
  const monitor = await create()
  await ping(monitor)
  await clock.advance(5000)
  const watch = otherWatch([60])
  clock.spend(15 * MINUTE - 5000)
  app.db.client.run('update monitor_watch set watched_at = ?', [clock.now() - 1])
  await Promise.all([passed(watch), clock.advance(0), passed(watch)])
  expect(storyOf(monitor)).toEqual(['up', 'down'])
})

test.each<[string, number, number[], string[]]>([
  ['a process that starts alone gives it its time again', 6, [], ['up']],
  ['processes that start together do', 1.5, [0.1], ['up']],
  ['a process that starts beside another does not', 1.5, [60], ['up', 'late']],
  ['nor does it if it has watched all along', 0, [], ['up', 'late']],
  ['any process does after more than two minutes', 3, [60], ['up']],
])('If a monitor is due after an outage, %s', async (_, minutes, others, story) => {
  const { clock, create, ping, read, storyOf } = await fresh()
  const monitor = await create()
  await ping(monitor)
  clock.spend(10 * MINUTE)
  app.db.client.run('update monitor_watch set watched_at = ?', [clock.now() - minutes * MINUTE])
  await passed(otherWatch(others))
  expect(storyOf(monitor)).toEqual(story)
  if (story.length === 1)
    expect(await read(monitor)).toMatchObject({
      state: 'up',
      expected_at: new Date(clock.now() + 10 * MINUTE).toISOString(),
    })
})

test('A monitor is not down if no process has ever watched', async () => {
  const { clock, create, ping, storyOf } = await fresh()
  const monitor = await create()
  await ping(monitor)
  clock.spend(HOUR)
  app.db.client.run('delete from monitor_watch')
  await passed(otherWatch([]))
  expect(storyOf(monitor)).toEqual(['up'])
})

test('An outage that is short for the grace time explains no missing ping, but gives the grace time again', async () => {
  const { clock, create, ping, read, storyOf } = await fresh()
  const monitor = await create({ grace_seconds: 3600 })
  await ping(monitor, '/start?rid=a')
  await ping(monitor)
  clock.spend(24 * MINUTE)
  app.db.client.run('update monitor_watch set watched_at = ?', [clock.now() - 15 * MINUTE])
  await passed(otherWatch([]))
  const now = new Date(clock.now()).toISOString()
  expect(await read(monitor)).toMatchObject({ state: 'late', expected_at: now, started_at: null })
  await clock.advance(59 * MINUTE)
  expect(storyOf(monitor)).toEqual(['up', 'late'])
  await clock.advance(MINUTE)
  expect(storyOf(monitor)).toEqual(['up', 'late', 'down'])
})

test('After an outage, a late monitor has its grace time, and a run is not held against one', async () => {
  const { clock, create, ping, read, storyOf } = await fresh()
  const [late, running] = [await create(), await create({ period_seconds: 86_400 })]
  await ping(late)
  await clock.advance(10 * MINUTE)
  await ping(running)
  await ping(running, '/start')
  clock.jump(HOUR)
  await clock.advance(5000)
  expect([await read(late), await read(running)]).toMatchObject([
    { state: 'late' },
    { state: 'up', started_at: null },
  ])
  await clock.advance(5 * MINUTE)
  expect([storyOf(late), storyOf(running)]).toEqual([['up', 'late', 'down'], ['up']])
})

test('A clock that is set back changes nothing until it has caught up', async () => {
  const { clock, create, ping, storyOf } = await fresh()
  const monitor = await create()
  await ping(monitor)
  clock.jump(-HOUR)
  await clock.advance(30 * MINUTE)
  expect(storyOf(monitor)).toEqual(['up'])
  await ping(monitor)
  await clock.advance(15 * MINUTE)
  expect(storyOf(monitor)).toEqual(['up', 'late', 'down'])
})

test('Many monitors that are due are moved in slices, each in one commit with its event', async () => {
  await using own = await bootTestApp()
  const { acme, clock, create, storyOf } = await monitorsOf(own)
  const monitor = await create()
  own.db.client.run(
    `with recursive one(i) as (select 1 union all select i + 1 from one where i < 250)
     insert into monitors (id, tenant_id, name, tags, notes, token_hash, token, badge_token,
       period_seconds, time_zone, grace_seconds, state, state_since, expected_at, due_at,
       ping_count, transition_count, created_at, updated_at)
     select id || i, tenant_id, name, tags, notes, token_hash || i, token, badge_token || i,
       period_seconds, time_zone, grace_seconds, 'late', state_since, ?1, ?1 + 300000,
       0, 0, created_at, updated_at from monitors, one`,
    [clock.now()],
  )
  await clock.advance(5 * MINUTE)
  const messages = own.db.client.query<{ type: string; n: number }, []>(
    'select type, count(*) as n from messages group by 1',
  )
  expect(messages.all()).toEqual([{ type: 'monitor.down', n: 250 }])
  expect(storyOf({ id: `${monitor.id}7` })).toEqual(['down'])
  const { key } = await acme.key('relay', 'live')
  const { data } = (await own.client(key).get('/v1/relay/messages?limit=1')).body
  const { body } = await own.client(key).get(`/v1/relay/messages/${data[0].id}`)
  expect(body.payload).toMatchObject({ name: 'backup', state: 'down', previous_state: 'late' })
  expectDescribedType('monitor.down', body.payload)
})

test('Without monitors that wait for a ping, nothing is written', async () => {
  await using own = await bootTestApp()
  const { clock, create } = await monitorsOf(own)
  await create()
  let commits = 0
  own.db.observe({ committed: () => void commits++, failed: () => {} })
  await clock.advance(MINUTE - 1000)
  expect(commits).toBe(0)
  expect(own.db.client.query('select * from monitor_watch').all()).toEqual([])
})

test('A monitor that is down opens an alert, which resolves with a ping and closes with the monitor', async () => {
  const { acme, clock, create, ping, call } = await fresh()
  const alerts = (state: 'open' | 'resolved') =>
    app.platform.alerts.page(acme.id, state, { limit: 9 })
  const monitor = await create({ name: 'Nightly backup' })
  await ping(monitor)
  await clock.advance(14 * MINUTE)
  expect(alerts('open')).toEqual([])
  await clock.advance(2 * MINUTE)
  const alert = { kind: 'monitor.down', name: 'Nightly backup', subject: `monitor:${monitor.id}` }
  expect(alerts('open')).toMatchObject([{ ...alert, path: `/monitors/${monitor.id}` }])
  await ping(monitor)
  expect([alerts('open'), alerts('resolved')]).toMatchObject([[], [alert]])
  await ping(monitor, '/fail')
  expect(alerts('open')).toMatchObject([alert])
  await call(204, 'delete', `/${monitor.id}`)
  expect(alerts('open')).toEqual([])
})

test.each([
  ['a ping that reports a failure', ['/fail'], /^A ping reported a failure\.$/],
  ['a ping that is missing', [''], /^No ping has arrived since \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/],
  ['a first run without an end', ['/start'], /^The run that started at .+ UTC has not ended\.$/],
  ['a run without an end', ['', '/start'], /^The run that started at .+ UTC has not ended\.$/],
])('An alert gives the reason of %s', async (_, pings, reason) => {
  const { acme, clock, create, ping } = await fresh()
  const monitor = await create()
  for (const rest of pings) await ping(monitor, rest)
  await clock.advance(16 * MINUTE)
  const [alert] = app.platform.alerts.page(acme.id, 'open', { limit: 9 })
  expect(alert?.text).toMatch(reason)
})
