import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { StorageError } from '../../src/db/errors.ts'
import { databaseFile, openDatabase } from '../../src/db/open.ts'
import { temporaryFolder } from '../support/folder.ts'

function openNotes() {
  const folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'full' })
  db.client.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE) STRICT')
  const write = (text: string) => () => {
    db.client.query('INSERT INTO notes (text) VALUES (?)').run(text)
    return text
  }
  const texts = () =>
    db.client
      .query<{ text: string }, []>('SELECT text FROM notes ORDER BY id')
      .all()
      .map((row) => row.text)
  const close = () => {
    db.close()
    folder[Symbol.dispose]()
  }
  return { db, folder: folder.path, write, texts, [Symbol.dispose]: close }
}

/** Counts the frames that reach the write-ahead log, by looking from outside. */
const commitsSeen = (folder: string) => {
  const other = new Database(databaseFile(folder))
  const read = () =>
    other.query<{ data_version: number }, []>('PRAGMA data_version').get()?.data_version
  return { read, close: () => other.close() }
}

test('a resolved commit is visible to another connection', async () => {
  using notes = openNotes()
  const other = new Database(databaseFile(notes.folder))

  await notes.db.commit(notes.write('kept'))

  expect(other.query('SELECT text FROM notes').all()).toEqual([{ text: 'kept' }])
  other.close()
})

test('work queued in one turn shares one transaction', async () => {
  using notes = openNotes()
  const outside = commitsSeen(notes.folder)
  const before = outside.read()

  await Promise.all(['a', 'b', 'c'].map((text) => notes.db.commit(notes.write(text))))

  expect(notes.texts()).toEqual(['a', 'b', 'c'])
  expect(outside.read()).toBe((before ?? 0) + 1)
  outside.close()
})

test('work that throws is rolled back alone and rejects alone', async () => {
  using notes = openNotes()
  const { commit } = notes.db

  const results = await Promise.allSettled([
    commit(notes.write('first')),
    commit(() => {
      notes.write('half done')()
      throw new Error('no')
    }),
    commit(notes.write('first')),
    commit(notes.write('last')),
  ])

  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ])
  expect(notes.texts()).toEqual(['first', 'last'])
})

test('more work than one group holds is all committed, in order', async () => {
  using notes = openNotes()
  const wanted = Array.from({ length: 1200 }, (_, n) => `${n}`)

  await Promise.all(wanted.map((text) => notes.db.commit(notes.write(text))))

  expect(notes.texts()).toEqual(wanted)
})

test('work that takes long is spread over several transactions, and others have their turn in between', async () => {
  using notes = openNotes()
  const other = new Database(databaseFile(notes.folder))
  const wanted = ['a', 'b', 'c', 'd', 'e']
  const slowly = (text: string) => () => {
    const until = performance.now() + 30
    while (performance.now() < until);
    return notes.write(text)()
  }
  const stored = () =>
    other.query<{ n: number }, []>('SELECT count(*) AS n FROM notes').get()?.n ?? 0

  let isOver = false
  const written = Promise.all(wanted.map((text) => notes.db.commit(slowly(text)))).finally(() => {
    isOver = true
  })
  const seen = new Set<number>()
  while (!isOver) {
    seen.add(stored())
    await new Promise((resolve) => setImmediate(resolve))
  }

  expect(await written).toEqual(wanted)
  expect(notes.texts()).toEqual(wanted)
  expect([...seen].filter((count) => count < wanted.length)).toEqual([0, 1, 2, 3, 4])
  other.close()
})

test('lanes take turns: the work of one tenant waits for neither many nor slow pieces of another', async () => {
  using notes = openNotes()
  const spin = (ms: number) => () => {
    const until = performance.now() + ms
    while (performance.now() < until);
  }
  const ended: string[] = []
  const all = (tenant: string, count: number, ms: number) =>
    Array.from({ length: count }, () =>
      notes.db.commitFor(tenant, spin(ms)).then(() => ended.push(tenant)),
    )

  await Promise.all([...all('slow', 10, 15), ...all('many', 60, 1), ...all('few', 3, 1)])

  expect(ended.slice(0, 15).filter((tenant) => tenant === 'few')).toHaveLength(3)
  expect(ended.slice(0, 30)).toContain('many')
})

test('one piece of work that fails among slow ones rejects alone', async () => {
  using notes = openNotes()
  const spin = (ms: number) => {
    const until = performance.now() + ms
    while (performance.now() < until);
  }

  const results = await Promise.allSettled(
    ['a', 'b', 'a', 'c'].map((text) =>
      notes.db.commit(() => {
        spin(15)
        return notes.write(text)()
      }),
    ),
  )

  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
  expect(notes.texts()).toEqual(['a', 'b', 'c'])
})

test('while another process holds the lock, reads and timers go on and the write follows', async () => {
  using notes = openNotes()
  const other = new Database(databaseFile(notes.folder))
  other.run('BEGIN IMMEDIATE')

  const write = notes.db.commit(notes.write('waited'))
  let turns = 0
  while (turns < 20) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    turns++
    expect(notes.texts()).toEqual([])
  }
  other.run('COMMIT')

  await write
  expect(notes.texts()).toEqual(['waited'])
  other.close()
})

test('a full disk rejects with a storage error, keeps what was acknowledged, and recovers', async () => {
  using notes = openNotes()
  const { commit, client } = notes.db
  await commit(notes.write('acknowledged'))
  const { page_count: pages } = client
    .query<{ page_count: number }, []>('PRAGMA page_count')
    .get() ?? { page_count: 0 }
  client.run(`PRAGMA max_page_count = ${pages}`)

  const refused = await Promise.allSettled(
    Array.from({ length: 50 }, (_, n) => commit(notes.write(`${n}`.repeat(4000)))),
  )

  const reasons = refused.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  expect(reasons.length).toBeGreaterThan(0)
  for (const reason of reasons) {
    expect(reason).toBeInstanceOf(StorageError)
    expect(reason.message).toBe('the disk is full')
  }
  expect(notes.texts()[0]).toBe('acknowledged')
  expect(notes.texts().length).toBe(1 + refused.length - reasons.length)

  client.run('PRAGMA max_page_count = 1000000')
  await commit(notes.write('after'))
  expect(notes.texts().at(-1)).toBe('after')
})

test('the version is another one after a commit that failed, and the same after our own', async () => {
  using notes = openNotes()
  const { commit, client, version } = notes.db
  const before = version()
  await commit(notes.write('kept'))
  await commit(notes.write('kept')).catch(() => {})
  expect(version()).toBe(before)
  const { page_count: pages } = client
    .query<{ page_count: number }, []>('PRAGMA page_count')
    .get() ?? { page_count: 0 }
  client.run(`PRAGMA max_page_count = ${pages}`)

  await expect(commit(notes.write('x'.repeat(100_000)))).rejects.toBeInstanceOf(StorageError)
  const after = version()
  expect(after).not.toBe(before)
  await expect(commit(notes.write('y'.repeat(100_000)))).rejects.toBeInstanceOf(StorageError)

  expect(version()).not.toBe(after)
})

test('what is committed as the files are moved away is refused, and works again when they are back', async () => {
  using notes = openNotes()
  const { commit } = notes.db
  const away = `${notes.folder}.away`
  const lose = commit(() => renameSync(notes.folder, away))
  const beside = commit(notes.write('beside'))
  const refused = await Promise.allSettled([lose, beside, commit(notes.write('after'))])
  renameSync(away, notes.folder)

  expect(refused.map((one) => one.status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await commit(notes.write('again'))).toBe('again')
})

test('drain resolves when everything queued is on disk', async () => {
  using notes = openNotes()
  const written = Array.from({ length: 700 }, (_, n) => notes.db.commit(notes.write(`${n}`)))

  await notes.db.drain()

  expect(notes.texts()).toHaveLength(700)
  await Promise.all(written)
})

test('the type of commit refuses work that returns a promise', () => {
  using notes = openNotes()
  // @ts-expect-error an await inside the work would let the commit go without it
  const refused = () => notes.db.commit(async () => 1)
  expect(refused).toBeFunction()
})

test('opens with write-ahead log, full sync, foreign keys, and files that only the owner reads', async () => {
  using notes = openNotes()
  const pragma = (name: string) =>
    Object.values(notes.db.client.query(`PRAGMA ${name}`).get() ?? {})[0]

  expect(pragma('journal_mode')).toBe('wal')
  expect(pragma('synchronous')).toBe(2)
  expect(pragma('foreign_keys')).toBe(1)
  expect(pragma('busy_timeout')).toBe(5000)
  expect((await Bun.file(databaseFile(notes.folder)).stat()).mode & 0o777).toBe(0o600)
})
