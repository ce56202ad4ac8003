import { expect, onTestFinished, test } from 'bun:test'
import { existsSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { StorageError } from '../../../src/db/errors.ts'
import { openDatabase } from '../../../src/db/open.ts'
import { createDueLoop, MAX_SLEEP_MS } from '../../../src/platform/due/loop.ts'
import type { DueQueue, Lane } from '../../../src/platform/due/queue.ts'
import { createLog } from '../../../src/platform/log.ts'
import { ALONE, type Siblings } from '../../../src/platform/siblings.ts'
import { createTestClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'

interface Item extends Lane {
  id: number
  owner: string
}
type Queue = DueQueue<Item, string>

interface Options {
  limits?: Partial<Queue['limits']>
  perform?: Queue['perform']
  alive?: string[]
  siblings?: Siblings
}

/** A plain queue in a database with a loop on it, owned by the process `me`. */
function createFixture({ limits, perform, alive: others = [], siblings = ALONE }: Options = {}) {
  const folder = temporaryFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const clock = createTestClock('2026-01-01T00:00:00Z')
  const db = openDatabase({ dataDir: folder.path, synchronous: 'full' })
  const all = <Row = Item>(sql: string, ...values: (string | number)[]) =>
    db.client.query<Row, (string | number)[]>(sql).all(...values)
  db.client.run(`CREATE TABLE items (
    id INTEGER PRIMARY KEY, tenant TEXT, target TEXT, due INTEGER, state TEXT,
    owner TEXT, until INTEGER, outcome TEXT) STRICT`)
  const performed: number[] = []
  const alive = ['me', ...others]
  const lost = (now: number) =>
    all<Item & { until: number }>("SELECT * FROM items WHERE state = 'leased'").filter(
      ({ owner, until }) => !alive.includes(owner) || (until < now && owner !== 'me'),
    )
  const queue: Queue = {
    name: 'items',
    limits: { total: 100, perTenant: 100, perTarget: 100, perLane: 100, ...limits },
    longestMs: 1000,
    nextDueAt: () =>
      all<{ due: number }>("SELECT due FROM items WHERE state = 'waiting' ORDER BY due")[0]?.due,
    promote: (now) =>
      all(
        `UPDATE items SET state = 'ready' WHERE id IN
          (SELECT id FROM items WHERE state = 'waiting' AND due <= ? LIMIT 50) RETURNING id`,
        now,
      ).length === 50,
    nextLane: ({ tenant, target } = { tenant: '', target: '' }) =>
      all<Lane>(
        `SELECT tenant, target FROM items WHERE state = 'ready' AND (tenant, target) > (?, ?)
          ORDER BY tenant, target LIMIT 1`,
        ...[tenant, target],
      )[0],
    claim: ({ tenant, target }, limit, { owner, until }) =>
      all(
        `UPDATE items SET state = 'leased', owner = ?, until = ? WHERE id IN (SELECT id FROM items
            WHERE state = 'ready' AND tenant = ? AND target = ? ORDER BY due, id LIMIT ?)
          RETURNING id, tenant, target, owner`,
        ...[owner, until, tenant, target, limit],
      ),
    perform: async (item, signal) => {
      performed.push(item.id)
      return perform ? perform(item, signal) : 'done'
    },
    broken: () => 'broken',
    settle: ({ id, owner }, outcome) => {
      const ended = "UPDATE items SET state = 'ended', outcome = ? WHERE id = ? AND owner = ?"
      all(ended, outcome, id, owner)
      return undefined
    },
    hasLost: ({ now }) => lost(now).length > 0,
    reclaim: ({ now }) => {
      for (const { id } of lost(now)) all("UPDATE items SET state = 'ready' WHERE id = ?", id)
    },
  }
  const deathListeners: (() => void)[] = []
  const instances = {
    ...{
      self: 'me',
      siblings,
      alive: () => alive,
      list: () => [],
      start: async () => {},
      stop: async () => {},
    },
    onDeath: (listener: () => void) => void deathListeners.push(listener),
  }
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const log = createLog({ level: 'debug', format: 'json', now: clock.now, write })
  const loop = createDueLoop({ queue, db, clock, log, instances })
  clock.settled = breathe

  function add(count: number, { tenant = 't', target = 'host' }: Partial<Lane> = {}, inMs = 0) {
    const insert = "INSERT INTO items (tenant, target, due, state) VALUES (?, ?, ?, 'waiting')"
    for (let n = 0; n < count; n++) all(insert, tenant, target, clock.now() + inMs)
  }
  const start = async () => {
    loop.start()
    await breathe()
  }
  const nudge = async () => {
    loop.nudge()
    await breathe()
  }
  const die = (name: string) => {
    alive.splice(alive.indexOf(name), 1)
    for (const listener of deathListeners) listener()
  }
  const count = (state: string) => all('SELECT 1 FROM items WHERE state = ?', state).length
  const outcomes = () => db.client.query('SELECT outcome FROM items ORDER BY id').values().flat()
  const verbs = { add, start, nudge, count, outcomes, die }
  return { clock, db, loop, queue, performed, lines, ...verbs }
}

function createGate() {
  let open: (() => void)[] = []
  const most = { underWay: 0 }
  const perform = () =>
    new Promise<string>((resolve) => {
      open.push(() => resolve('done'))
      most.underWay = Math.max(most.underWay, open.length)
    })
  const release = async (count = open.length) => {
    const ending = open.slice(0, count)
    open = open.slice(count)
    for (const end of ending) end()
    await breathe()
  }
  return { perform, release, most, underWay: () => open.length }
}

const never = () => new Promise<string>(() => {})

/** Lets everything that is ready run without waiting for what is held. */
const breathe = async () => {
  for (let n = 0; n < 200; n++) await new Promise((resolve) => setImmediate(resolve))
}

test('An item is performed when it is due, also if it waits again; an idle loop writes nothing', async () => {
  const { clock, db, start, nudge, add, performed, queue } = createFixture()
  const { settle } = queue
  let again = 0
  queue.settle = (item, outcome) => {
    if (performed.length > 1) return settle(item, outcome)
    again = clock.now() + 1234
    db.client.query("UPDATE items SET state = 'waiting', due = ? WHERE id = ?").run(again, item.id)
    return again
  }
  add(1, {}, 60_000)
  await start()
  const size = () => Bun.file(`${db.file}-wal`).size
  const before = size()
  await clock.advance(59_999)
  expect([performed, size()]).toEqual([[], before])
  await clock.advance(1)
  expect(performed).toEqual([1])
  await clock.advance(1233)
  expect(performed).toEqual([1])
  await clock.advance(1)
  expect(performed).toEqual([1, 1])
  // New work is found at once after a nudge, and within the longest sleep without.
  add(1)
  await nudge()
  expect(performed).toEqual([1, 1, 2])
  add(1)
  await clock.advance(MAX_SLEEP_MS)
  expect(performed).toEqual([1, 1, 2, 3])
})

test.each([
  [{ total: 7 }, 7],
  [{ perTenant: 3 }, 6],
  [{ perTarget: 2 }, 4],
])('No more items are under way than %j allows', async (limits, expected) => {
  const gate = createGate()
  const { start, add, count } = createFixture({ limits, perform: gate.perform })
  add(10, { tenant: 'a', target: 'x' })
  add(10, { tenant: 'b', target: 'y' })
  await start()
  expect(gate.underWay()).toBe(expected)
  while (gate.underWay() > 0) await gate.release()
  expect(gate.most.underWay).toBe(expected)
  expect(count('ended')).toBe(20)
})

test('Targets that never answer delay no other, nor use up shared room', async () => {
  const perform: Queue['perform'] = ({ target }) =>
    target === 'well' ? Promise.resolve('done') : never()
  const limits = { total: 40, perTenant: 40, perTarget: 10, perLane: 10, isShared: true }
  const { add, count, loop, nudge, start } = createFixture({ limits, perform })
  for (const tenant of ['a', 'b', 'c', 'd'])
    for (const target of ['p', 'q', 'r', 's']) add(20, { tenant, target: `${tenant}${target}` })
  await start()
  expect(loop.inFlight()).toBe(30)
  add(30, { tenant: 'e', target: 'well' })
  await nudge()
  expect(count('ended')).toBe(30)
  // A lane has at least an eighth of what its tenant could use, which is half of all.
  const eighth = { total: 64, perTenant: 64, perTarget: 64, perLane: 4, isShared: true }
  const lanes = createFixture({ limits: eighth, perform: never })
  lanes.add(10)
  await lanes.start()
  expect(lanes.loop.inFlight()).toBe(4)
})

/** How many items of each tenant or target have started. */
const startedIn = ({ db }: ReturnType<typeof createFixture>, by: 'tenant' | 'target') =>
  Object.fromEntries(
    db.client
      .query(`SELECT ${by}, count(*) FROM items WHERE state <> 'ready' GROUP BY ${by}`)
      .values(),
  )

test('A tenant with many items leaves room for one with a single item, also at the same target', async () => {
  const wide = createFixture({ limits: { total: 20, perTenant: 15 }, perform: never })
  for (let n = 0; n < 30; n++) wide.add(1, { tenant: 'big', target: `h${n}` })
  wide.add(1, { tenant: 'small', target: 'z' })
  await wide.start()
  expect(startedIn(wide, 'tenant')).toMatchObject({ small: 1 })
  const narrow = createFixture({ limits: { perTarget: 10, perLane: 8 }, perform: never })
  narrow.add(20, { tenant: 'big' })
  narrow.add(1, { tenant: 'small' })
  await narrow.start()
  expect(startedIn(narrow, 'tenant')).toEqual({ big: 8, small: 1 })
})

test('Lanes take turns', async () => {
  const gate = createGate()
  const fixture = createFixture({ limits: { total: 4, perTarget: 2 }, perform: gate.perform })
  for (const target of ['a', 'b', 'c', 'd']) fixture.add(6, { target })
  await fixture.start()
  // Four slots become free one by one: for c, d, a and b.
  for (let n = 0; n < 4; n++) await gate.release(1)
  expect(startedIn(fixture, 'target')).toEqual({ a: 3, b: 3, c: 1, d: 1 })
})

test('Work that rejects or throws, and outcomes that cannot be settled, are settled as broken, once', async () => {
  const { loop, start, add, outcomes, lines, queue } = createFixture()
  const { settle } = queue
  queue.perform = ({ id }) => {
    if (id === 1) throw new TypeError('a bug')
    return id === 2 ? Promise.reject(new TypeError('a bug')) : Promise.resolve('done')
  }
  const tried: string[] = []
  queue.settle = (item, outcome) => {
    tried.push(`${item.id} ${outcome}`)
    if (item.id === 3 || (item.id === 4 && outcome === 'done')) throw new TypeError('in the books')
    return settle(item, outcome)
  }
  add(5)
  await start()
  expect(outcomes()).toEqual(['broken', 'broken', null, 'broken', 'done'])
  // All of them together, until one throws, and then each apart.
  const together = ['1 broken', '2 broken', '3 done']
  const apart = ['1 broken', '2 broken', '3 done', '4 done', '5 done']
  expect(tried).toEqual([...together, ...apart, '3 broken', '4 broken'])
  expect(loop.inFlight()).toBe(0)
  for (const text of ['a bug', 'in the books']) expect(lines.join()).toContain(text)
})

test('Outcomes that the disk refuses are stored later, logged once, and such claims take up no room', async () => {
  const { clock, start, add, count, queue, lines } = createFixture()
  const { settle } = queue
  queue.settle = () => {
    throw new StorageError('the disk is full')
  }
  add(30)
  await start()
  await clock.advance(20_000)
  expect(count('ended')).toBe(0)
  expect(lines.filter((line) => line.includes('"level":"error"'))).toHaveLength(1)
  expect(lines.length).toBeLessThan(40)
  queue.settle = settle
  await clock.advance(1000)
  expect(count('ended')).toBe(30)
  expect(lines.filter((line) => line.includes('works again'))).toHaveLength(1)
  const other = createFixture({ limits: { total: 2 } })
  const { claim } = other.queue
  let failures = 5
  other.queue.claim = (...args) => {
    const items = claim(...args)
    if (failures-- > 0) throw new StorageError('the disk is full')
    return items
  }
  other.add(6)
  await other.start()
  expect(other.loop.inFlight()).toBe(0)
  await other.clock.advance(10_000)
  expect(other.count('ended')).toBe(6)
})

test('An item that is leased while the database is lost is not performed, and ends when it is back', async () => {
  const { clock, db, start, add, count, performed, lines, queue } = createFixture()
  const folder = dirname(db.file)
  const away = `${folder}.away`
  const { claim } = queue
  queue.claim = (...args) => {
    if (!existsSync(away)) renameSync(folder, away)
    return claim(...args)
  }
  add(1)
  await start()
  queue.claim = claim
  await clock.advance(5000)
  expect(performed).toEqual([])
  renameSync(away, folder)
  await clock.advance(5000)
  expect(performed).toEqual([])
  expect(count('ended')).toBe(1)
  expect(lines).toEqual([])
})

test('A process has its part of the limits, tells others of what it has no room for, and hears them', async () => {
  const gate = createGate()
  const heard: (() => void)[] = []
  const told: string[] = []
  const siblings: Siblings = {
    ...ALONE,
    count: 4,
    tell: (topic) => void told.push(topic),
    on: (_, listener) => void heard.push(() => listener('')),
  }
  const limits = { total: 8, perTenant: 8, perTarget: 8, perLane: 8 }
  const { clock, start, add, nudge, performed } = createFixture({ ...gate, limits, siblings })
  add(1)
  await start()
  expect([performed, told]).toEqual([[1], []])
  add(2)
  await nudge()
  expect([performed, told]).toEqual([[1, 2], ['due:items']])
  // Without room, it tells of new work no more often than the interval allows.
  for (let n = 0; n < 5; n++) await nudge()
  expect(told).toHaveLength(1)
  await clock.advance(20)
  expect(told).toHaveLength(2)
  // What another process says is no news to the others, unless this one had room.
  await clock.advance(20)
  const before = told.length
  for (const hear of heard) hear()
  await clock.advance(40)
  expect([performed, told.length]).toEqual([[1, 2], before])
  await gate.release()
  expect(performed).toEqual([1, 2, 3])
})

test('Leases of a dead process are taken back, and expired ones, but never our own', async () => {
  const { clock, db, start, add, performed, die } = createFixture({
    alive: ['other', 'late'],
    perform: never,
  })
  add(3)
  const lease = db.client.query(
    "UPDATE items SET state = 'leased', owner = ?, until = ? WHERE id = ?",
  )
  lease.run('late', clock.now() + 1000, 1)
  lease.run('other', clock.now() + 1e12, 2)
  await start()
  expect(performed).toEqual([3])
  clock.jump(86_400_000)
  await clock.advance(MAX_SLEEP_MS)
  expect(performed).toEqual([3, 1])
  die('other')
  await breathe()
  expect(performed).toEqual([3, 1, 2])
})

test('Stopping claims nothing more, waits for items under way and aborts them after the grace period', async () => {
  const gate = createGate()
  const { loop, start, add, count } = createFixture({ limits: { total: 3 }, perform: gate.perform })
  add(9)
  await start()
  let isStopped = false
  const stopping = loop.stop(25_000).then(() => {
    isStopped = true
  })
  await breathe()
  expect(isStopped).toBe(false)
  await gate.release()
  await stopping
  expect([count('ended'), count('leased'), count('ready')]).toEqual([3, 0, 6])
  const perform: Queue['perform'] = (_, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve('cut short')))
  const late = createFixture({ perform })
  late.add(1)
  await late.start()
  const stopped = late.loop.stop(25_000)
  await late.clock.advance(24_999)
  expect(late.outcomes()).toEqual([null])
  await late.clock.advance(1)
  await stopped
  expect(late.outcomes()).toEqual(['cut short'])
})
