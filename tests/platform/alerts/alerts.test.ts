import { afterAll, expect, test } from 'bun:test'
import { openDatabase } from '../../../src/db/open.ts'
import { createAlerts, type NewAlert, OPEN_ALERTS } from '../../../src/platform/alerts/index.ts'
import { createTestClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { addMigratedDatabase } from '../../support/template.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const folder = temporaryFolder()
addMigratedDatabase(folder.path)
const db = openDatabase({ dataDir: folder.path, synchronous: 'normal' })
afterAll(() => {
  db.close()
  folder[Symbol.dispose]()
})

let tenants = 0

/** Alerts of a new tenant, with a loop that announces what is due and keeps it. */
function newAlerts() {
  const clock = createTestClock('2026-03-01T10:00:00.000Z')
  const alerts = createAlerts({ db, clock })
  const start = clock.now()
  const tenantId = `tenant-${++tenants}`
  db.client.run(
    `INSERT INTO tenants (id, name, plan, status, created_at, updated_at)
      VALUES (?1, ?1, 'free', 'active', 0, 0)`,
    [tenantId],
  )
  const told: string[] = []
  let nudges = 0
  alerts.onDue(() => nudges++)

  const key = { tenantId, kind: 'job.failed', subject: 'job:1' } as const
  const alert: NewAlert = { ...key, name: 'Nightly', text: 'Status 500.', path: '/jobs/1' }
  const minutes = (at: number) => (at - start) / MINUTE

  const announce = () =>
    db.commit(() => {
      alerts.announce(100, (event, { name, openedAt, count, tenantId: of }) => {
        if (of === tenantId)
          told.push(`${minutes(clock.now())}: ${event} ${name} ${count} since ${minutes(openedAt)}`)
      })
    })

  /** Goes to a minute and announces at each due time on the way. */
  async function to(minute: number) {
    const until = start + minute * MINUTE
    for (let at = alerts.firstDueAt(); at !== undefined && at < until; at = alerts.firstDueAt()) {
      await clock.advanceTo(Math.max(at, clock.now()))
      await announce()
    }
    await clock.advanceTo(until)
  }

  const open = (fields: Partial<NewAlert> = {}) =>
    db.commit(() => alerts.open({ ...alert, ...fields }))
  const resolve = () => db.commit(() => alerts.resolve(key))
  const close = () => db.commit(() => alerts.close(tenantId, 'job:1'))
  const mute = (until: number | null) =>
    db.commit(() => void alerts.mute(tenantId, current().id, until))
  const current = () => {
    const all = [...alerts.page(tenantId, 'open', { limit: 9 })]
    const [first] = [...all, ...alerts.page(tenantId, 'resolved', { limit: 9 })]
    if (!first) throw new Error('there is no alert')
    return first
  }
  /** Ends everything, so that no other test finds it due. */
  const end = () => db.client.run('DELETE FROM alerts')
  const verbs = { to, open, resolve, close, mute, current, announce, end }
  return { alerts, alert, clock, tenantId, told, nudges: () => nudges, ...verbs }
}

type Fixture = ReturnType<typeof newAlerts>
type Step = [minute: number, does: (of: Fixture) => Promise<unknown>]

const fails: Step[1] = ({ open }) => open()
const warns: Step[1] = ({ open }) => open({ severity: 'warning' })
const recovers: Step[1] = ({ resolve }) => resolve()
const isMuted: Step[1] = ({ mute, clock }) => mute(clock.now() + 2 * HOUR)
const isMutedForever: Step[1] = ({ mute }) => mute(Number.MAX_SAFE_INTEGER)
const isUnmuted: Step[1] = ({ mute }) => mute(null)
const happens: Step[1] = ({ open }) => open({ closesAfterMs: DAY })

test.each<[rule: string, until: number, steps: Step[], told: string[]]>([
  ['A failure is told at once', 59, [[0, fails]], ['0: opened Nightly 1 since 0']],
  [
    'Further failures only count, and are told after a day',
    48 * 60,
    [
      [0, fails],
      [5, fails],
      [9, fails],
    ],
    ['0: opened Nightly 1 since 0', '1440: reminder Nightly 3 since 0'],
  ],
  [
    'A recovery waits until an hour after the failure was told',
    240,
    [
      [0, fails],
      [38, recovers],
    ],
    ['0: opened Nightly 1 since 0', '60: resolved Nightly 1 since 0'],
  ],
  [
    'A recovery after more than an hour is told at once, and the next failure an hour after that',
    240,
    [
      [0, fails],
      [90, recovers],
      [100, fails],
    ],
    [
      '0: opened Nightly 1 since 0',
      '90: resolved Nightly 1 since 0',
      '150: opened Nightly 1 since 100',
    ],
  ],
  [
    'A failure that returns before its recovery was told is the same one',
    240,
    [
      [0, fails],
      [10, recovers],
      [20, fails],
    ],
    ['0: opened Nightly 1 since 0'],
  ],
  [
    'A critical failure that came and went within the pause is told as such',
    240,
    [
      [0, fails],
      [70, recovers],
      [80, fails],
      [85, recovers],
      [90, fails],
      [95, recovers],
    ],
    [
      '0: opened Nightly 1 since 0',
      '70: resolved Nightly 1 since 0',
      '130: resolved Nightly 2 since 80',
    ],
  ],
  [
    'A warning that came and went within the pause is not told',
    240,
    [
      [0, warns],
      [70, recovers],
      [80, warns],
      [85, recovers],
    ],
    ['0: opened Nightly 1 since 0', '70: resolved Nightly 1 since 0'],
  ],
  [
    'Nothing is told while it is muted, and the state at the end of that',
    240,
    [
      [0, fails],
      [10, isMuted],
      [20, recovers],
    ],
    ['0: opened Nightly 1 since 0', '130: resolved Nightly 1 since 0'],
  ],
  [
    'Muted until unmuted, there are no reminders; then they go on',
    5 * 24 * 60,
    [
      [0, fails],
      [10, isMutedForever],
      [3 * 24 * 60, isUnmuted],
    ],
    [
      '0: opened Nightly 1 since 0',
      '4320: reminder Nightly 1 since 0',
      '5760: reminder Nightly 1 since 0',
    ],
  ],
  [
    'A failure that came and went while muted is not told',
    600,
    [
      [0, fails],
      [70, recovers],
      [75, isMuted],
      [80, fails],
      [85, recovers],
    ],
    ['0: opened Nightly 1 since 0', '70: resolved Nightly 1 since 0'],
  ],
  [
    'An alert of a deleted subject ends without a message',
    48 * 60,
    [
      [0, fails],
      [10, ({ close }) => close()],
    ],
    ['0: opened Nightly 1 since 0'],
  ],
  [
    'A condition without a recovery closes after a day without a message',
    72 * 60,
    [[0, happens]],
    ['0: opened Nightly 1 since 0'],
  ],
  [
    '… and is told again while it goes on',
    40 * 60,
    [
      [0, happens],
      [60, happens],
    ],
    ['0: opened Nightly 1 since 0', '1440: reminder Nightly 2 since 0'],
  ],
  [
    'A new version is told once',
    72 * 60,
    [[0, ({ open }) => open({ kind: 'version.new' })]],
    ['0: opened Nightly 1 since 0'],
  ],
])('%s', async (_, until, steps, told) => {
  const fixture = newAlerts()
  for (const [minute, does] of steps) {
    await fixture.to(minute)
    await does(fixture)
    await fixture.announce()
  }
  await fixture.to(until)
  expect(fixture.told).toEqual(told)
  fixture.end()
})

test('A condition without a recovery closes a day after the last time even while it is muted', async () => {
  const { to, open, mute, current, told, end } = newAlerts()
  await open({ closesAfterMs: DAY })
  await to(1)
  await mute(Number.MAX_SAFE_INTEGER)
  await to(60)
  await open({ closesAfterMs: DAY })
  await to(25 * 60)
  expect(current().state).toBe('open')
  await to(25 * 60 + 1)
  expect(current().state).toBe('resolved')
  expect(told).toEqual(['0: opened Nightly 1 since 0'])
  end()
})

test('What fails and recovers a thousand times an hour is one row and at most one message an hour', async () => {
  const fixture = newAlerts()
  for (let n = 0; n < 1500; n++) {
    await fixture.to((n * 60) / 1000)
    await (n % 2 ? fixture.resolve() : fixture.open())
    await fixture.announce()
  }
  await fixture.to(300)
  const minutes = fixture.told.map((line) => Number.parseFloat(line))
  const gaps = minutes.slice(1).map((minute, n) => minute - (minutes[n] ?? 0))
  expect(gaps.length).toBeGreaterThan(0)
  expect(gaps.filter((gap) => gap < 60)).toEqual([])
  expect(fixture.told[1]).toContain('resolved Nightly 501 since 0')
  expect(db.client.query('SELECT count(*) AS n FROM alerts').get()).toEqual({ n: 1 })
  fixture.end()
})

test('The loop is woken by what is due after the commit, not by another occurrence', async () => {
  const { alerts, alert, open, resolve, nudges, announce, end } = newAlerts()
  await open()
  expect(nudges()).toBe(1)
  await announce()
  await open()
  await resolve()
  await resolve()
  expect(nudges()).toBe(1)
  const failing = db.commit(() => {
    alerts.open({ ...alert, subject: 'job:2' })
    throw new Error('the rest went wrong')
  })
  await expect(failing).rejects.toThrow('the rest went wrong')
  expect(nudges()).toBe(1)
  end()
})

test('Beyond a thousand open alerts, one sums up the others', async () => {
  const { alerts, open, tenantId, end } = newAlerts()
  await db.commit(() => {
    for (let n = 0; n < OPEN_ALERTS; n++)
      alerts.open({
        tenantId,
        kind: 'job.failed',
        subject: `job:${n}`,
        name: 'x',
        text: 'x',
        path: '/',
      })
  })
  await open({ subject: 'job:more' })
  await open({ subject: 'job:even-more' })
  expect(alerts.openCount(tenantId, 5000)).toBe(OPEN_ALERTS + 1)
  const [last] = alerts.page(tenantId, 'open', { limit: 1 })
  expect(last).toMatchObject({ kind: 'alerts.limit', count: 2 })
  const other = newAlerts()
  await other.open()
  expect(other.current().kind).toBe('job.failed')
  end()
})

test('Names and reasons of others become one short line of plain text', async () => {
  const { open, current, end } = newAlerts()
  await open({
    name: `a\u202eb\nc\u0000${'x'.repeat(200)}`,
    text: `1\r\n2\u200b${'y'.repeat(500)}`,
  })
  const { name, text } = current()
  expect(name).toStartWith('a b c x')
  expect([...name]).toHaveLength(100)
  expect(text).toStartWith('1 2yy')
  expect([...text]).toHaveLength(300)
  end()
})

test('Alerts belong to one tenant, the last opened first, and go 90 days after their end', async () => {
  const { alerts, clock, tenantId, open, resolve, current, end } = newAlerts()
  for (const subject of ['job:2', 'job:3', 'job:1']) {
    await clock.advance(MINUTE)
    await open({ subject })
  }
  const subjects = () => alerts.page(tenantId, 'open', { limit: 9 }).map(({ subject }) => subject)
  expect(subjects()).toEqual(['job:1', 'job:3', 'job:2'])
  const { id, openedAt, seq } = current()
  const after = { value: openedAt, seq }
  expect(alerts.page(tenantId, 'open', { after, limit: 1 })).toMatchObject([{ subject: 'job:3' }])
  expect(alerts.find(null, id)).toBeUndefined()
  expect(alerts.find('other', id)).toBeUndefined()
  expect(await db.commit(() => alerts.mute('other', id, 1) === undefined)).toBe(true)
  await resolve()
  const sweep = () => db.commit(() => alerts.retention.deleteSlice(clock.now(), 9))
  await clock.advance(90 * DAY)
  expect(await sweep()).toBe(0)
  await clock.advance(1)
  expect(await sweep()).toBe(1)
  end()
})
