import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { databaseFile, openDatabase } from '../../../src/db/open.ts'
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
  return { db, folder: folder.path, told, write, [Symbol.dispose]: close }
}

function observe({ db, told }: Pick<ReturnType<typeof openNotes>, 'db' | 'told'>) {
  db.observe({
    committed(works, ms) {
      expect(ms).toBeGreaterThan(0)
      told.push(`committed ${works}`)
    },
    failed: (works) => void told.push(`failed ${works}`),
  })
}

const fill = ({ client }: ReturnType<typeof openDatabase>) => {
  const { page_count } = client.query('PRAGMA page_count').get() as { page_count: number }
  client.run(`PRAGMA max_page_count = ${page_count}`)
}

describe('an observer of the database is told', () => {
  test('of each transaction with the number of its works, not of works that fail', async () => {
    using notes = openNotes()
    const { db, told, write } = notes
    observe(notes)
    await Promise.all(['a', 'b', 'c'].map((text) => db.commit(write(text))))
    await db.commit(write('a')).catch(() => {})
    expect(told).toEqual(['committed 3', 'committed 1'])
  })

  test('of works that a full disk or a lock keeps out', async () => {
    using notes = openNotes()
    const { db, told, write } = notes
    fill(db)
    observe(notes)
    const works = ['a', 'b'].map((text) => db.commit(write(text.repeat(100_000))))
    const results = await Promise.allSettled(works)
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(told.filter((line) => line.startsWith('failed'))).toEqual(['failed 1', 'failed 1'])
    told.length = 0
    const other = new Database(databaseFile(notes.folder))
    other.run('BEGIN IMMEDIATE')
    await expect(db.commit(write('a'))).rejects.toThrow('holds the database lock')
    other.run('ROLLBACK')
    other.close()
    expect(told).toEqual(['failed 1'])
  }, 10_000)
})

describe('what a work puts off until after the commit', () => {
  test('is done in order once it is on disk', async () => {
    using notes = openNotes()
    const other = new Database(databaseFile(notes.folder))
    const { db, told, write } = notes
    const count = () => (other.query('SELECT count(*) AS n FROM notes').get() as { n: number }).n
    const telling = (text: string) => () => {
      write(text)()
      db.afterCommit(() => told.push(`${text}, of ${count()} on disk`))
    }
    await Promise.all(['a', 'b'].map((text) => db.commit(telling(text))))
    other.close()
    expect(told).toEqual(['a, of 2 on disk', 'b, of 2 on disk'])
  })

  test('is not done for a work that fails, nor for a lost transaction', async () => {
    using notes = openNotes()
    const { db, told, write } = notes
    const telling = (text: string) => () => {
      db.afterCommit(() => told.push(text))
      write(text)()
    }
    await Promise.allSettled(['a', 'b', 'a', 'c'].map((text) => db.commit(telling(text))))
    expect(told).toEqual(['a', 'b', 'c'])
    const reference = 'REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED'
    db.client.run('CREATE TABLE parents (id INTEGER PRIMARY KEY)')
    db.client.run(`CREATE TABLE orphans (parent ${reference})`)
    const lost = db.commit(() => {
      db.afterCommit(() => told.push('lost'))
      db.client.run('INSERT INTO orphans VALUES (1)')
    })
    await expect(lost).rejects.toThrow()
    await db.commit(write('kept'))
    expect(told).toEqual(['a', 'b', 'c'])
  })
})

test('what is lost with its commit is not counted', async () => {
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
  const counted = () => [
    ...metrics.render().matchAll(/^gatehouse_(?!scrape)(\w+(?:_total|_count)(?:{.*})?) [1-9]/gm),
  ]

  const lost = db.commit(() => {
    happens()
    throw new Error('lost')
  })
  await expect(lost).rejects.toThrow('lost')
  expect(counted()).toEqual([])
  await db.commit(happens)

  expect(counted().map(([, series]) => series)).toEqual([
    'clockwork_attempts_total{status="success"}',
    'clockwork_slots_skipped_total{reason="outage"}',
    'clockwork_leases_reclaimed_total',
    'clockwork_lateness_seconds_count',
    'delivery_attempts_total{result="succeeded"}',
    'delivery_attempt_duration_seconds_count',
    'relay_messages_total{environment="live"}',
    'relay_repeats_total',
  ])
})
