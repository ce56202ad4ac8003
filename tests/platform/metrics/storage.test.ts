import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { openDatabase } from '../../../src/db/open.ts'
import { createDeliveryMetrics } from '../../../src/delivery/metrics.ts'
import { createStore as createDeliveryStore } from '../../../src/delivery/store/index.ts'
import { createClockworkMetrics } from '../../../src/engines/clockwork/metrics.ts'
import { createStore as createClockworkStore } from '../../../src/engines/clockwork/store/index.ts'
import { createRelayMetrics } from '../../../src/engines/relay/metrics.ts'
import { createMetrics } from '../../../src/platform/metrics/index.ts'
import { bootTestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/folder.ts'

/** A database with one table, and what its observer is told. */
function openNotes() {
  const folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'normal' })
  db.client.run('CREATE TABLE notes (text TEXT UNIQUE) STRICT')
  const told: string[] = []
  const write = (text: string) => () =>
    void db.client.query('INSERT INTO notes (text) VALUES (?)').run(text)
  const close = () => {
    db.close()
    folder[Symbol.dispose]()
  }
  return { db, told, write, [Symbol.dispose]: close }
}

test('An observer is told of transactions with the number of works, and of works that a full disk keeps out', async () => {
  using notes = openNotes()
  const { db, told, write } = notes
  db.observe({
    committed(works, ms) {
      expect(ms).toBeGreaterThan(0)
      told.push(`committed ${works}`)
    },
    failed: (works) => void told.push(`failed ${works}`),
  })
  await Promise.all(['a', 'b', 'c'].map((text) => db.commit(write(text))))
  await db.commit(write('a')).catch(() => {})
  expect(told).toEqual(['committed 3', 'committed 1'])
  const [pages] = db.client.query('PRAGMA page_count').values().flat()
  db.client.run(`PRAGMA max_page_count = ${pages}`)
  const works = ['x', 'y'].map((text) => db.commit(write(text.repeat(100_000))))
  const results = await Promise.allSettled(works)
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(told.filter((line) => line.startsWith('failed'))).toEqual(['failed 1', 'failed 1'])
})

test('Work that waits for the commit is done in order once it is on disk, and not if it is lost', async () => {
  using notes = openNotes()
  const other = new Database(notes.db.file)
  const { db, told, write } = notes
  const count = () => other.query('SELECT count(*) FROM notes').values().flat()[0]
  const telling = (text: string) => () => {
    db.afterCommit(() => told.push(`${text}, of ${count()} on disk`))
    write(text)()
  }
  await Promise.allSettled(['a', 'b', 'a', 'c'].map((text) => db.commit(telling(text))))
  const expected = ['a, of 3 on disk', 'b, of 3 on disk', 'c, of 3 on disk']
  expect(told).toEqual(expected)
  const reference = 'REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED'
  db.client.run('CREATE TABLE parents (id INTEGER PRIMARY KEY)')
  db.client.run(`CREATE TABLE orphans (parent ${reference})`)
  const lost = db.commit(() => {
    db.afterCommit(() => told.push('lost'))
    db.client.run('INSERT INTO orphans VALUES (1)')
  })
  await expect(lost).rejects.toThrow()
  await db.commit(write('kept'))
  expect(told).toEqual(expected)
  other.close()
})

test('What is lost with its commit is not counted', async () => {
  await using app = await bootTestApp()
  const { db, clock } = app
  const metrics = createMetrics()
  const parts = { metrics, clock, db }
  const clockwork = createClockworkMetrics(parts, createClockworkStore(db))
  const delivery = createDeliveryMetrics(parts, createDeliveryStore(db))
  const relay = createRelayMetrics(metrics, db)
  const happens = () => {
    clockwork.attemptEnded('success', 10)
    clockwork.slotsSkipped('outage', 1)
    clockwork.leaseReclaimed()
    delivery.attemptEnded('succeeded', 10)
    relay.accepted('live')
    relay.repeated()
  }
  const pattern = /^gatehouse_(?!scrape)(\w+(?:_total|_count)(?:{.*})?) [1-9]/gm
  const counted = () => [...metrics.render().matchAll(pattern)].map(([, series]) => series)
  const lost = db.commit(() => {
    happens()
    throw new Error('lost')
  })
  await expect(lost).rejects.toThrow('lost')
  expect(counted()).toEqual([])
  await db.commit(happens)
  expect(counted()).toHaveLength(8)
})
