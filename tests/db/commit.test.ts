import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { StorageError } from '../../src/db/errors.ts'
import { openDatabase } from '../../src/db/open.ts'
import { temporaryFolder } from '../support/folder.ts'

function openNotes() {
  const folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'full' })
  const { client, commit } = db
  client.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE) STRICT')
  const write =
    (text: string, ms = 0) =>
    () => {
      spin(ms)
      client.query('INSERT INTO notes (text) VALUES (?)').run(text)
      return text
    }
  const texts = () => client.query('SELECT text FROM notes ORDER BY id').values().flat()
  const settled = async (work: (() => unknown)[]) =>
    (await Promise.allSettled(work.map((one) => commit(one)))).map(({ status }) => status)
  function fill() {
    const [pages] = client.query('PRAGMA page_count').values().flat()
    client.run(`PRAGMA max_page_count = ${pages}`)
  }
  const close = () => {
    db.close()
    folder[Symbol.dispose]()
  }
  return { db, commit, folder: folder.path, write, texts, settled, fill, [Symbol.dispose]: close }
}

function spin(ms: number) {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('Work of one turn shares one transaction, in order, which other connections see when it resolves', async () => {
  using notes = openNotes()
  using other = new Database(notes.db.file)
  const version = () => Number(other.query('PRAGMA data_version').values().flat()[0])
  const before = version()
  await Promise.all(['a', 'b', 'c'].map((text) => notes.commit(notes.write(text))))
  expect(other.query('SELECT text FROM notes').values().flat()).toEqual(['a', 'b', 'c'])
  expect(version()).toBe(before + 1)
  // More work than one group holds; drain waits for all of it.
  const more = Array.from({ length: 1200 }, (_, n) => `${n}`)
  const written = more.map((text) => notes.commit(notes.write(text)))
  await notes.db.drain()
  expect(notes.texts()).toEqual(['a', 'b', 'c', ...more])
  await Promise.all(written)
})

test.each([0, 15])('Work that throws is rolled back and rejects alone (%d ms each)', async (ms) => {
  using notes = openNotes()
  const halfDone = () => {
    notes.write('half done', ms)()
    throw new Error('no')
  }
  const work = [notes.write('a', ms), halfDone, notes.write('a', ms), notes.write('b', ms)]
  const expected = ['fulfilled', 'rejected', 'rejected', 'fulfilled'] as const
  expect(await notes.settled(work)).toEqual([...expected])
  expect(notes.texts()).toEqual(['a', 'b'])
})

test('Slow work is spread over several transactions with other work in between', async () => {
  using notes = openNotes()
  using other = new Database(notes.db.file)
  const wanted = ['a', 'b', 'c']
  let isOver = false
  const written = Promise.all(wanted.map((text) => notes.commit(notes.write(text, 30))))
  void written.finally(() => {
    isOver = true
  })
  const seen = new Set<number>()
  while (!isOver) {
    seen.add(other.query('SELECT 1 FROM notes').all().length)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await written).toEqual(wanted)
  expect([...seen].filter((count) => count < wanted.length)).toEqual([0, 1, 2])
})

test('The work of a tenant waits for neither many nor slow pieces of another', async () => {
  using notes = openNotes()
  const ended: string[] = []
  const all = (tenant: string, count: number, ms: number) =>
    Array.from({ length: count }, () =>
      notes.db.commitFor(tenant, () => spin(ms)).then(() => ended.push(tenant)),
    )
  await Promise.all([...all('slow', 4, 15), ...all('many', 60, 1), ...all('few', 3, 1)])
  expect(ended.slice(0, 15).filter((tenant) => tenant === 'few')).toHaveLength(3)
  expect(ended.slice(0, 30)).toContain('many')
})

test('While another process holds the lock, reads and timers go on and the write follows', async () => {
  using notes = openNotes()
  using other = new Database(notes.db.file)
  other.run('BEGIN IMMEDIATE')
  const write = notes.commit(notes.write('waited'))
  for (let turns = 0; turns < 20; turns++) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    expect(notes.texts()).toEqual([])
  }
  other.run('COMMIT')
  await write
  expect(notes.texts()).toEqual(['waited'])
})

test('A full disk rejects with a storage error, loses nothing, and writing works again later', async () => {
  using notes = openNotes()
  const { db, write } = notes
  const told: string[] = []
  db.observe({
    committed(works, ms) {
      expect(ms).toBeGreaterThan(0)
      told.push(`committed ${works}`)
    },
    failed: (works) => void told.push(`failed ${works}`),
  })
  const before = db.version()
  await notes.settled(['a', 'b', 'c'].map((text) => write(text)))
  await notes.settled([write('a')])
  const versions = [db.version()]
  expect(versions).toEqual([before])
  notes.fill()
  for (const letter of ['x', 'y']) {
    const error = await notes.commit(write(letter.repeat(100_000))).catch((it) => it)
    expect(error).toBeInstanceOf(StorageError)
    expect(error.message).toBe('the disk is full')
    versions.push(db.version())
  }
  // What this process has read may be of a commit that failed.
  expect(new Set(versions).size).toBe(3)
  expect(told).toEqual(['committed 3', 'committed 1', 'failed 1', 'failed 1'])
  const results = await notes.settled(
    Array.from({ length: 50 }, (_, n) => write(`${n}`.repeat(4000))),
  )
  const kept = results.filter((status) => status === 'fulfilled').length
  expect(kept).toBeLessThan(50)
  expect(notes.texts()).toHaveLength(3 + kept)
  db.client.run('PRAGMA max_page_count = 1000000')
  await notes.commit(write('after'))
  expect([notes.texts().slice(0, 3), notes.texts().at(-1)]).toEqual([['a', 'b', 'c'], 'after'])
})

test('Commits are refused while the files are moved away, and accepted when they are back', async () => {
  using notes = openNotes()
  const away = `${notes.folder}.away`
  const lose = () => renameSync(notes.folder, away)
  const refused = await notes.settled([lose, notes.write('beside'), notes.write('after')])
  renameSync(away, notes.folder)
  expect(refused).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await notes.commit(notes.write('again'))).toBe('again')
})

test('Work that returns a promise does not compile', () => {
  using notes = openNotes()
  // @ts-expect-error an await inside the work would let the commit go without it
  const refused = () => notes.commit(async () => 1)
  expect(refused).toBeFunction()
})

test('Work that waits for the commit is done in order once it is on disk, and not if it is lost', async () => {
  using notes = openNotes()
  using other = new Database(notes.db.file)
  const { db, write } = notes
  const told: string[] = []
  const count = () => other.query('SELECT count(*) FROM notes').values().flat()[0]
  const telling = (text: string) => () => {
    db.afterCommit(() => told.push(`${text}, of ${count()} on disk`))
    write(text)()
  }
  await notes.settled(['a', 'b', 'a', 'c'].map(telling))
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
})
