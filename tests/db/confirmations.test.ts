import { expect, test } from 'bun:test'
import type { Replica } from '../../src/db/confirmations.ts'
import { openDatabase } from '../../src/db/open.ts'
import { temporaryFolder } from '../support/folder.ts'

const TIMEOUT_MS = 150

/** A database whose replica confirms when the test says so. */
function setUp(more: Partial<Replica> = {}) {
  const folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'normal' })
  db.client.run('CREATE TABLE notes (text TEXT) STRICT')
  const calls: PromiseWithResolvers<void>[] = []
  const changes: (string | undefined)[] = []
  db.confirmBy({
    confirm() {
      const call = Promise.withResolvers<void>()
      calls.push(call)
      return call.promise
    },
    timeoutMs: TIMEOUT_MS,
    onTimeout: 'refuse',
    onChange: (reason) => changes.push(reason),
    ...more,
  })
  const settled: string[] = []
  /** Notes how the commit of a text ends. */
  const write = (text: string, wait?: 'disk' | 'replica' | 'effect') =>
    db
      .commit(() => void db.client.query('INSERT INTO notes VALUES (?)').run(text), wait)
      .then(
        () => void settled.push(text),
        ({ message, isStored }) => void settled.push(`${text}: ${message} (${isStored})`),
      )
  const texts = () => db.client.query('SELECT text FROM notes').values().flat()
  const called = async (count: number) => {
    while (calls.length < count) await Bun.sleep(1)
    return calls[count - 1] as PromiseWithResolvers<void>
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const dispose = () => {
    db.close()
    folder[Symbol.dispose]()
  }
  return { db, calls, changes, settled, write, texts, called, turn, [Symbol.dispose]: dispose }
}

const LATE = 'the replica has not confirmed the write in time, so it may be lost or stored (true)'
const REFUSED = 'the replica cannot be reached, so nothing is written (false)'

test('A commit is reported once a call that began after it has confirmed it; there is one call at a time', async () => {
  using notes = setUp()
  const first = notes.write('a')
  const call = await notes.called(1)
  const later = ['b', 'c'].map((text) => notes.write(text))
  const local = notes.write('here', 'disk')
  await local
  await notes.turn()
  expect([notes.settled, notes.texts()]).toEqual([['here'], ['a', 'b', 'c', 'here']])
  call.resolve()
  await first
  const next = await notes.called(2)
  await notes.turn()
  expect(notes.settled).toEqual(['here', 'a'])
  next.resolve()
  await Promise.all(later)
  expect(notes.settled).toEqual(['here', 'a', 'b', 'c'])
  expect([notes.calls.length, notes.changes]).toEqual([2, []])
})

test('Work that fails is reported at once, and stores nothing', async () => {
  using notes = setUp()
  const failing = notes.db.commit(() => {
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  expect(notes.texts()).toEqual([])
})

test('Without confirmation in time a write is refused, and later ones before they begin; what allows an effect waits', async () => {
  using notes = setUp()
  const effect = notes.write('claim', 'effect')
  const call = await notes.called(1)
  await notes.write('late')
  expect(notes.settled).toEqual([`late: ${LATE}`])
  expect(notes.changes).toEqual(['it does not answer'])
  await Promise.all([notes.write('refused'), notes.write('no claim', 'effect')])
  await notes.write('here', 'disk')
  expect(notes.settled.slice(1)).toEqual([`refused: ${REFUSED}`, `no claim: ${REFUSED}`, 'here'])
  expect(notes.texts()).toEqual(['claim', 'late', 'here'])
  call.resolve()
  await effect
  expect(notes.changes).toEqual(['it does not answer', undefined])
  const again = notes.write('again')
  ;(await notes.called(2)).resolve()
  await again
  expect(notes.settled.slice(-2)).toEqual(['claim', 'again'])
})

test('What allows an effect is reported as late, too, when nothing else waits', async () => {
  using notes = setUp()
  const effect = notes.write('claim', 'effect')
  const call = await notes.called(1)
  while (notes.changes.length === 0) await Bun.sleep(5)
  await notes.write('refused')
  expect(notes.settled).toEqual([`refused: ${REFUSED}`])
  call.resolve()
  await effect
  expect(notes.changes).toEqual(['it does not answer', undefined])
})

test('A call that fails is repeated, also when nothing waits any more, and its reason is reported', async () => {
  let isReachable = false
  const confirm = () => (isReachable ? Promise.resolve() : Promise.reject(new Error('no route')))
  using notes = setUp({ confirm })
  await notes.write('late')
  expect(notes.changes).toEqual(['no route'])
  isReachable = true
  while (notes.changes.length < 2) await Bun.sleep(5)
  await notes.write('again')
  expect(notes.settled).toEqual([`late: ${LATE}`, 'again'])
})

test('With acknowledge, writes go on without the replica once it is late', async () => {
  using notes = setUp({ onTimeout: 'acknowledge' })
  await Promise.all([notes.write('late'), notes.write('claim', 'effect')])
  await notes.write('next')
  expect(notes.settled).toEqual(['late', 'claim', 'next'])
  expect(notes.changes).toEqual(['it does not answer'])
  ;(await notes.called(1)).resolve()
  const confirmed = notes.write('confirmed')
  ;(await notes.called(2)).resolve()
  await confirmed
  expect(notes.changes.at(-1)).toBeUndefined()
})

test('Draining waits for what is not yet confirmed', async () => {
  using notes = setUp()
  void notes.write('a')
  const call = await notes.called(1)
  let isDrained = false
  const drained = notes.db.drain().then(() => {
    isDrained = true
  })
  await notes.turn()
  expect(isDrained).toBe(false)
  call.resolve()
  await drained
  expect(notes.settled).toEqual(['a'])
})

test('Draining ends while the replica cannot be reached, once no more is held and queued', async () => {
  using notes = setUp()
  const late = notes.write('late')
  await Bun.sleep(TIMEOUT_MS / 2)
  const later = notes.write('later')
  await late
  void notes.write('here', 'disk')
  await Promise.all([notes.db.drain(), later])
  expect(notes.settled).toEqual([`late: ${LATE}`, 'here', `later: ${LATE}`])
})

test('Draining does not wait for what is committed meanwhile', async () => {
  using notes = setUp({ timeoutMs: 60_000 })
  void notes.write('a')
  const call = await notes.called(1)
  const drained = notes.db.drain()
  await notes.turn()
  void notes.write('b')
  call.resolve()
  await drained
  expect(notes.settled).toEqual(['a'])
  ;(await notes.called(2)).resolve()
})
