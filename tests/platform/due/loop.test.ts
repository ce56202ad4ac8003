import { expect, test } from 'bun:test'
import { existsSync, renameSync } from 'node:fs'
import { StorageError } from '../../../src/db/errors.ts'
import { openDatabase } from '../../../src/db/open.ts'
import { createDueLoop, MAX_SLEEP_MS } from '../../../src/platform/due/loop.ts'
import type { DueQueue, Lane } from '../../../src/platform/due/queue.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createTestClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'

interface Item extends Lane {
  id: number
  owner: string
}

interface Fixture {
  clock?: ReturnType<typeof createTestClock>
  owner?: string
  alive?: string[]
  limits?: Partial<DueQueue<Item, string>['limits']>
  perform?: (item: Item, signal: AbortSignal) => Promise<string>
}

/** A queue as plain as can be, in a real database, with a loop on it. */
function createFixture(folder: string, options: Fixture = {}) {
  const clock = options.clock ?? createTestClock('2026-01-01T00:00:00Z')
  const owner = options.owner ?? 'me'
  const db = openDatabase({ dataDir: folder, synchronous: 'full' })
  db.client.run(`CREATE TABLE IF NOT EXISTS items (
    id INTEGER PRIMARY KEY, tenant TEXT, target TEXT, due INTEGER, state TEXT,
    owner TEXT, until INTEGER, outcome TEXT) STRICT`)
  const performed: number[] = []
  const lines: string[] = []
  const writes = { fail: false }

  const queue: DueQueue<Item, string> = {
    name: 'items',
    limits: { total: 100, perTenant: 100, perTarget: 100, perLane: 100, ...options.limits },
    longestMs: 1000,
    nextDueAt: () => one<number>("SELECT min(due) FROM items WHERE state = 'waiting'"),
    promote: (now) =>
      db.client
        .query(
          "UPDATE items SET state = 'ready' WHERE id IN (SELECT id FROM items WHERE state = 'waiting' AND due <= ? LIMIT 50) RETURNING id",
        )
        .all(now).length === 50,
    nextLane: (after) =>
      db.client
        .query<Lane, [string, string]>(
          "SELECT tenant, target FROM items WHERE state = 'ready' AND (tenant, target) > (?, ?) ORDER BY tenant, target LIMIT 1",
        )
        .get(after?.tenant ?? '', after?.target ?? '') ?? undefined,
    claim: ({ tenant, target }, limit, lease) =>
      db.client
        .query<Item, (string | number)[]>(
          "UPDATE items SET state = 'leased', owner = ?, until = ? WHERE id IN (SELECT id FROM items WHERE state = 'ready' AND tenant = ? AND target = ? ORDER BY due, id LIMIT ?) RETURNING id, tenant, target, owner",
        )
        .all(lease.owner, lease.until, tenant, target, limit),
    perform: async (item, signal) => {
      performed.push(item.id)
      return options.perform ? options.perform(item, signal) : 'done'
    },
    broken: () => 'broken',
    settle: ({ id, owner }, outcome) => {
      if (writes.fail) throw new StorageError('the disk is full')
      db.client
        .query("UPDATE items SET state = 'ended', outcome = ? WHERE id = ? AND owner = ?")
        .run(outcome, id, owner)
      return undefined
    },
    hasLost: ({ alive, now, self }) => lost(alive, now, self).length > 0,
    reclaim: ({ alive, now, self }) => {
      for (const id of lost(alive, now, self))
        db.client.query("UPDATE items SET state = 'ready', owner = NULL WHERE id = ?").run(id)
    },
  }
  const lost = (alive: string[], now: number, self: string) =>
    db.client
      .query<{ id: number; owner: string; until: number }, []>(
        "SELECT id, owner, until FROM items WHERE state = 'leased'",
      )
      .all()
      .filter((row) => !alive.includes(row.owner) || (row.until < now && row.owner !== self))
      .map(({ id }) => id)
  const one = <T>(sql: string) =>
    (Object.values(db.client.query(sql).get() ?? {})[0] as T) ?? undefined

  const deathListeners: (() => void)[] = []
  const alive = { ids: options.alive ?? [owner] }
  const instances = {
    self: owner,
    alive: () => alive.ids,
    onDeath: (listener: () => void) => void deathListeners.push(listener),
    start: async () => {},
    stop: async () => {},
  }
  const log = createLog({
    level: 'debug',
    format: 'json',
    now: clock.now,
    write: (line) => lines.push(line),
  })
  const loop = createDueLoop({ queue, db, clock, log, instances })
  clock.settled = loop.idle

  function add(count: number, lane: Partial<Lane> = {}, inMs = 0) {
    for (let n = 0; n < count; n++)
      db.client
        .query("INSERT INTO items (tenant, target, due, state) VALUES (?, ?, ?, 'waiting')")
        .run(lane.tenant ?? 't', lane.target ?? 'host', clock.now() + inMs)
  }
  const count = (state: string) =>
    one<number>(`SELECT count(*) FROM items WHERE state = '${state}'`) ?? 0

  return { clock, db, loop, add, count, performed, lines, writes, alive, queue, deathListeners }
}

/** Performances that end when the test says so. */
function gate() {
  const open: (() => void)[] = []
  const under = { way: 0, most: 0 }
  return {
    under,
    perform: () =>
      new Promise<string>((resolve) => {
        under.way++
        under.most = Math.max(under.most, under.way)
        open.push(() => {
          under.way--
          resolve('done')
        })
      }),
    release: () => {
      for (const end of open.splice(0)) end()
    },
  }
}

/** Lets everything that is ready run its course without waiting for what is held. */
const breathe = async () => {
  for (let n = 0; n < 60; n++) await new Promise((resolve) => setImmediate(resolve))
}

test('an item is performed when it is due, not before', async () => {
  using folder = temporaryFolder()
  const { clock, loop, add, performed } = createFixture(folder.path)
  add(1, {}, 60_000)
  loop.start()
  await loop.idle()

  await clock.advance(59_999)
  expect(performed).toEqual([])
  await clock.advance(1)
  expect(performed).toEqual([1])
})

test('a nudge makes the loop look at once', async () => {
  using folder = temporaryFolder()
  const { loop, add, performed } = createFixture(folder.path)
  loop.start()
  await loop.idle()
  add(1)

  loop.nudge()
  await loop.idle()

  expect(performed).toEqual([1])
})

test('work that another process added is found within the longest sleep', async () => {
  using folder = temporaryFolder()
  const { clock, loop, add, performed } = createFixture(folder.path)
  loop.start()
  await loop.idle()
  add(1)

  await clock.advance(MAX_SLEEP_MS)

  expect(performed).toEqual([1])
})

test('no more is under way than the limits allow, in total, a tenant and a target', async () => {
  for (const [limits, expected] of [
    [{ total: 7 }, 7],
    [{ perTenant: 3 }, 6],
    [{ perTarget: 2 }, 4],
  ] as const) {
    using folder = temporaryFolder()
    const held = gate()
    const { loop, add, count } = createFixture(folder.path, { limits, perform: held.perform })
    add(20, { tenant: 'a', target: 'x' })
    add(20, { tenant: 'b', target: 'y' })
    loop.start()
    await breathe()
    expect(held.under.way).toBe(expected)

    while (held.under.way > 0) {
      held.release()
      await breathe()
    }
    expect(held.under.most).toBe(expected)
    expect(count('ended')).toBe(40)
  }
})

test('shared out, the room is never all taken by those who hold on to theirs', async () => {
  using folder = temporaryFolder()
  const { loop, add, count } = createFixture(folder.path, {
    limits: { total: 40, perTenant: 40, perTarget: 10, perLane: 10, isShared: true },
    perform: ({ target }) => (target === 'well' ? Promise.resolve('done') : new Promise(() => {})),
  })
  for (const tenant of ['a', 'b', 'c', 'd'])
    for (const target of ['p', 'q', 'r', 's']) add(20, { tenant, target: `${tenant}${target}` })
  loop.start()
  await breathe()
  expect(loop.inFlight()).toBeGreaterThanOrEqual(16)
  expect(loop.inFlight()).toBeLessThan(40)

  add(30, { tenant: 'e', target: 'well' })
  loop.nudge()
  await breathe()

  expect(count('ended')).toBe(30)
})

test('a target that never answers keeps no other target waiting', async () => {
  using folder = temporaryFolder()
  const { loop, add, count } = createFixture(folder.path, {
    limits: { perTarget: 5 },
    perform: ({ target }) => (target === 'dead' ? new Promise(() => {}) : Promise.resolve('done')),
  })
  add(200, { target: 'dead' })
  add(30, { target: 'well' })
  loop.start()
  await breathe()

  expect(count('ended')).toBe(30)
  expect(loop.inFlight()).toBe(5)
})

test('a tenant with a thousand targets leaves room for one with a single job', async () => {
  using folder = temporaryFolder()
  const held = gate()
  const { loop, add, db } = createFixture(folder.path, {
    limits: { total: 20, perTenant: 15 },
    perform: held.perform,
  })
  for (let n = 0; n < 200; n++) add(1, { tenant: 'big', target: `h${n}` })
  add(1, { tenant: 'small', target: 'z' })
  loop.start()
  await breathe()

  const small = db.client.query("SELECT state FROM items WHERE tenant = 'small'").get()
  expect(small).toEqual({ state: 'leased' })
})

test('lanes take turns: a long line does not run before the short ones', async () => {
  using folder = temporaryFolder()
  const held = gate()
  const { loop, add, db } = createFixture(folder.path, {
    limits: { total: 4, perTarget: 2 },
    perform: held.perform,
  })
  for (const target of ['a', 'b', 'c', 'd']) add(6, { target })
  loop.start()
  const started = () =>
    db.client
      .query<{ target: string; n: number }, []>(
        "SELECT target, count(*) AS n FROM items WHERE state <> 'ready' GROUP BY target",
      )
      .all()
  await breathe()
  held.release()
  await breathe()

  expect(started()).toEqual(['a', 'b', 'c', 'd'].map((target) => ({ target, n: 2 })))
})

test('outcomes of one turn share one commit', async () => {
  using folder = temporaryFolder()
  const held = gate()
  const { loop, add, db } = createFixture(folder.path, { perform: held.perform })
  add(10)
  loop.start()
  await breathe()
  const version = () => Object.values(db.client.query('PRAGMA data_version').get() ?? {})[0]
  expect(version()).toBeDefined()
  const changes: number[] = []
  const commits = db.client.query<{ n: number }, []>(
    "SELECT count(*) AS n FROM items WHERE state = 'ended'",
  )

  held.release()
  for (let n = 0; n < 20; n++) {
    await new Promise((resolve) => setImmediate(resolve))
    changes.push(commits.get()?.n ?? 0)
  }

  expect(new Set(changes)).toEqual(new Set([0, 10]))
})

test('a performance that breaks is settled as broken, and logged', async () => {
  using folder = temporaryFolder()
  const { loop, add, db, lines } = createFixture(folder.path, {
    perform: () => Promise.reject(new Error('a bug')),
  })
  add(1)
  loop.start()
  await loop.idle()

  expect(db.client.query('SELECT state, outcome FROM items').all()).toEqual([
    { state: 'ended', outcome: 'broken' },
  ])
  expect(lines.join()).toContain('a bug')
})

test('one whose outcome cannot be settled is settled as broken, once, and the loop goes on', async () => {
  using folder = temporaryFolder()
  const { loop, add, count, db, lines, queue } = createFixture(folder.path)
  const { settle } = queue
  const tried: string[] = []
  queue.settle = (item, outcome) => {
    tried.push(outcome)
    if (item.id === 1 || outcome === 'done') throw new TypeError('a bug in the books')
    return settle(item, outcome)
  }
  add(2)
  loop.start()
  await loop.idle()

  expect(tried.toSorted()).toEqual(['broken', 'broken', 'done', 'done'])
  expect(db.client.query('SELECT id, state, outcome FROM items ORDER BY id').all()).toEqual([
    { id: 1, state: 'leased', outcome: null },
    { id: 2, state: 'ended', outcome: 'broken' },
  ])
  expect(lines.join()).toContain('a bug in the books')
  queue.settle = settle
  add(1)
  loop.nudge()
  await loop.idle()
  expect(count('ended')).toBe(2)
})

test('one that throws before it has begun is settled as broken too, and the loop goes on', async () => {
  using folder = temporaryFolder()
  const { loop, add, db, lines, queue } = createFixture(folder.path)
  const { perform } = queue
  queue.perform = () => {
    throw new Error('a bug')
  }
  add(2)
  loop.start()
  await loop.idle()

  queue.perform = perform
  add(1)
  loop.nudge()
  await loop.idle()

  expect(db.client.query('SELECT outcome FROM items ORDER BY id').all()).toEqual([
    { outcome: 'broken' },
    { outcome: 'broken' },
    { outcome: 'done' },
  ])
  expect(loop.inFlight()).toBe(0)
  expect(lines.join()).toContain('a bug')
})

test('outcomes that the disk refused are stored when it takes them again', async () => {
  using folder = temporaryFolder()
  const { clock, loop, add, count, writes, lines } = createFixture(folder.path)
  clock.settled = breathe
  writes.fail = true
  add(3)
  loop.start()
  await breathe()
  expect(count('ended')).toBe(0)

  await clock.advance(5000)
  expect(count('ended')).toBe(0)
  expect(lines.length).toBeLessThan(40)

  writes.fail = false
  await clock.advance(1000)
  expect(count('ended')).toBe(3)
})

test('a claim that could not be committed takes up no room', async () => {
  using folder = temporaryFolder()
  const { clock, loop, add, count, queue } = createFixture(folder.path, { limits: { total: 2 } })
  clock.settled = breathe
  const { claim } = queue
  let failures = 5
  queue.claim = (...args) => {
    const items = claim(...args)
    if (failures-- > 0) throw new StorageError('the disk is full')
    return items
  }
  add(6)
  loop.start()
  await breathe()
  expect(loop.inFlight()).toBe(0)

  await clock.advance(10_000)
  expect(count('ended')).toBe(6)
})

test('what was leased as the database was lost is not performed, and not kept for ever when it is back', async () => {
  using folder = temporaryFolder()
  const { clock, loop, add, count, performed, lines, queue } = createFixture(folder.path)
  clock.settled = breathe
  const away = `${folder.path}.away`
  const { claim } = queue
  queue.claim = (...args) => {
    if (!existsSync(away)) renameSync(folder.path, away)
    return claim(...args)
  }
  add(1)
  loop.start()
  await breathe()
  queue.claim = claim
  await clock.advance(5000)
  expect(performed).toEqual([])

  renameSync(away, folder.path)
  await clock.advance(5000)
  expect(performed).toEqual([])
  expect(count('ended')).toBe(1)
  expect(lines).toEqual([])
})

test('leases of a dead process are taken back; those of a living one are not', async () => {
  using folder = temporaryFolder()
  const fixture = createFixture(folder.path, { alive: ['me', 'other'] })
  const { clock, loop, add, db, performed, alive, deathListeners } = fixture
  add(2, {}, 999_999)
  db.client.run(
    `UPDATE items SET state = 'leased', owner = 'other', until = ${clock.now() + 10_000_000}`,
  )
  loop.start()
  await loop.idle()
  await clock.advance(60_000)
  expect(performed).toEqual([])

  alive.ids = ['me']
  for (const listener of deathListeners) listener()
  await loop.idle()
  expect(performed).toEqual([1, 2])
})

test('a lease that has run out is taken from another process, but not from oneself by a clock that jumps', async () => {
  using folder = temporaryFolder()
  const held = gate()
  const { clock, loop, add, db, performed } = createFixture(folder.path, {
    alive: ['me', 'other'],
    perform: held.perform,
  })
  clock.settled = breathe
  add(2)
  db.client.run(
    `UPDATE items SET state = 'leased', owner = 'other', until = ${clock.now() + 1000} WHERE id = 1`,
  )
  loop.start()
  await breathe()
  expect(performed).toEqual([2])

  clock.jump(86_400_000)
  await clock.advance(MAX_SLEEP_MS)
  expect(performed).toEqual([2, 1])
  held.release()
})

test('stopping claims nothing more and waits for what is under way', async () => {
  using folder = temporaryFolder()
  const held = gate()
  const { loop, add, count } = createFixture(folder.path, {
    limits: { total: 3 },
    perform: held.perform,
  })
  add(9)
  loop.start()
  await breathe()

  let stopped = false
  const stopping = loop.stop(25_000).then(() => {
    stopped = true
  })
  await breathe()
  expect(stopped).toBe(false)
  held.release()
  await stopping

  expect(count('ended')).toBe(3)
  expect(count('leased')).toBe(0)
  expect(count('ready')).toBe(6)
})

test('after the grace period what is under way is cut short, and its outcome stored', async () => {
  using folder = temporaryFolder()
  const { clock, loop, add, db } = createFixture(folder.path, {
    perform: (_, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('cut short'))),
  })
  clock.settled = breathe
  add(1)
  loop.start()
  await breathe()

  const stopping = loop.stop(25_000)
  await clock.advance(25_000)
  await stopping

  expect(db.client.query('SELECT outcome FROM items').all()).toEqual([{ outcome: 'cut short' }])
})

test('an item that waits again is performed when it is due, not at the next look around', async () => {
  using folder = temporaryFolder()
  const { clock, db, loop, add, performed, queue } = createFixture(folder.path)
  const again = clock.now() + 1234
  const { settle } = queue
  queue.settle = (item, outcome) => {
    if (performed.length > 1) return settle(item, outcome)
    db.client.query("UPDATE items SET state = 'waiting', due = ? WHERE id = ?").run(again, item.id)
    return again
  }
  add(1)
  loop.start()
  await loop.idle()
  expect(performed).toEqual([1])

  await clock.advance(1233)
  expect(performed).toEqual([1])
  await clock.advance(1)
  expect(performed).toEqual([1, 1])
})

test('one tenant cannot take up a whole target', async () => {
  using folder = temporaryFolder()
  const held = gate()
  const { loop, add, db } = createFixture(folder.path, {
    limits: { perTarget: 10, perLane: 8 },
    perform: held.perform,
  })
  add(50, { tenant: 'big', target: 'shared' })
  add(1, { tenant: 'small', target: 'shared' })
  loop.start()
  await breathe()

  const leased = db.client
    .query("SELECT tenant, count(*) AS n FROM items WHERE state = 'leased' GROUP BY tenant")
    .all()
  expect(leased).toEqual([
    { tenant: 'big', n: 8 },
    { tenant: 'small', n: 1 },
  ])
})

test('slots that come free one by one go to each waiting lane in turn', async () => {
  using folder = temporaryFolder()
  const ends: (() => void)[] = []
  const order: string[] = []
  const { loop, add } = createFixture(folder.path, {
    limits: { perTarget: 2, perLane: 2 },
    perform: ({ tenant }) => {
      order.push(tenant)
      return new Promise((resolve) => ends.push(() => resolve('done')))
    },
  })
  add(50, { tenant: 'big', target: 'shared' })
  add(3, { tenant: 'small', target: 'shared' })
  loop.start()
  await breathe()
  for (let n = 0; n < 6; n++) {
    ends.shift()?.()
    await breathe()
  }

  expect(order.slice(0, 2)).toEqual(['big', 'big'])
  expect(order.slice(2, 8).filter((tenant) => tenant === 'small')).toHaveLength(3)
})

test('trouble with the disk is told once, and its end', async () => {
  using folder = temporaryFolder()
  const { clock, loop, add, count, writes, lines } = createFixture(folder.path)
  clock.settled = breathe
  writes.fail = true
  add(30)
  loop.start()
  await breathe()
  await clock.advance(20_000)
  expect(lines.filter((line) => line.includes('"level":"error"'))).toHaveLength(1)

  writes.fail = false
  await clock.advance(1000)
  expect(count('ended')).toBe(30)
  expect(lines.filter((line) => line.includes('works again'))).toHaveLength(1)
})

test('an idle turn writes nothing', async () => {
  using folder = temporaryFolder()
  const { clock, loop, add, db } = createFixture(folder.path)
  add(5, {}, 10_000_000)
  loop.start()
  await loop.idle()
  const size = () => Bun.file(`${db.file}-wal`).size
  const before = size()

  await clock.advance(600_000)

  expect(size()).toBe(before)
})
