import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/open.ts'
import { RolledBack } from '../../src/db/together.ts'
import { temporaryFolder } from '../support/folder.ts'

function openNotes() {
  const folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'full' })
  db.client.run('CREATE TABLE notes (text TEXT UNIQUE) STRICT')
  const insert = (text: string) => {
    db.client.query('INSERT INTO notes VALUES (?)').run(text)
    return text
  }
  const note = (text: string) => () => db.commitFor('a', () => insert(text))
  const texts = () => db.client.query('SELECT text FROM notes ORDER BY text').values().flat()
  const close = () => {
    db.close()
    folder[Symbol.dispose]()
  }
  return { db, insert, note, texts, [Symbol.dispose]: close }
}

const outcome = (result: PromiseSettledResult<unknown>) =>
  result.status === 'fulfilled' ? result.value : (result.reason as Error).name

test('Tasks store everything in one commit, even those that wait before it', async () => {
  using notes = openNotes()
  const sizes: number[] = []
  notes.db.observe({ committed: (works) => sizes.push(works), failed: () => {} })
  const late = async () => {
    await Bun.sleep(1)
    return notes.note('late')()
  }
  const idle = async () => 'idle'
  const results = await notes.db.together('a', [late, notes.note('a'), idle])
  expect(results.map(outcome)).toEqual(['late', 'a', 'idle'])
  expect(notes.texts()).toEqual(['a', 'late'])
  expect(sizes).toEqual([1])
})

test.each([
  ['a failure before the commit', async () => Promise.reject(new RangeError())],
  ['a failure in the commit', undefined],
])('Nothing is stored after %s, and every failure is known', async (_, early) => {
  using notes = openNotes()
  const bad =
    early ??
    (() =>
      notes.db.commitFor('a', () => {
        throw new RangeError()
      }))
  const twice = [notes.note('b'), notes.note('b')]
  const before = notes.db.version()
  const results = await notes.db.together<string | never>('a', [notes.note('a'), bad, ...twice])
  expect(results.map(outcome)).toEqual(['RolledBack', 'RangeError', 'RolledBack', 'SQLiteError'])
  expect(notes.texts()).toEqual([])
  expect(notes.db.version()).not.toBe(before)
  await notes.note('a')()
  expect(notes.texts()).toEqual(['a'])
})

test('A trial shows what would fail and stores nothing', async () => {
  using notes = openNotes()
  const results = await notes.db.together('a', [notes.note('a')], { isTrial: true })
  expect(results.map(outcome)).toEqual([RolledBack.name])
  expect(notes.texts()).toEqual([])
})

test('Further commits of a task are its own, and may come after the group', async () => {
  using notes = openNotes()
  const task = async () => {
    await notes.note('first')()
    await notes.note('second')()
    throw new RangeError()
  }
  const results = await notes.db.together('a', [task, notes.note('other')])
  expect(results.map(outcome)).toEqual(['RangeError', 'other'])
  expect(notes.texts()).toEqual(['first', 'other', 'second'])
})

test('When the whole transaction is lost, nothing is committed outside it', async () => {
  using notes = openNotes()
  const lose = () =>
    notes.db.commitFor('a', () => {
      notes.db.client.run('ROLLBACK')
      throw new RangeError()
    })
  const results = await notes.db.together<unknown>('a', [notes.note('a'), lose, notes.note('b')])
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']))
  expect(notes.texts()).toEqual([])
})
