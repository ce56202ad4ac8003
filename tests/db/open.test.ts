import { describe, expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lchownSync,
  mkdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { databaseFile, openDatabase } from '../../src/db/open.ts'
import { temporaryFolder } from '../support/folder.ts'

const open = (dataDir: string) => openDatabase({ dataDir, synchronous: 'normal' })
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)

test('a database is for its owner alone, also one that was copied here', () => {
  using folder = temporaryFolder()
  const [first, second] = [join(folder.path, 'a'), join(folder.path, 'b')]
  open(first).close()
  expect(modeOf(databaseFile(first))).toBe('600')
  mkdirSync(second)
  copyFileSync(databaseFile(first), databaseFile(second))
  chmodSync(databaseFile(second), 0o644)
  open(second).close()
  expect(modeOf(databaseFile(second))).toBe('600')
})

test('what is no database keeps its mode', () => {
  using folder = temporaryFolder()
  writeFileSync(databaseFile(folder.path), 'no database'.repeat(100), { mode: 0o644 })
  expect(() => open(folder.path)).toThrow('not a database')
  expect(modeOf(databaseFile(folder.path))).toBe('644')
})

test('nothing that is asked of a young database is kept to plan by', () => {
  using folder = temporaryFolder()
  const { client, close } = open(folder.path)
  client.run('CREATE TABLE people (name TEXT)')
  client.run('CREATE INDEX people_name ON people (name)')
  client.run("INSERT INTO people VALUES ('Ada'), ('Grace')")
  client.query('SELECT name FROM people WHERE name > ? ORDER BY name').all('B')
  close()
  const again = open(folder.path)
  const statistics = again.client.query("SELECT name FROM sqlite_schema WHERE name LIKE '%stat%'")
  expect(statistics.all()).toEqual([])
  again.close()
})

describe('a link in the place of the database', () => {
  test('of our own is followed, and what it leads to keeps its mode', () => {
    using folder = temporaryFolder()
    const [there, here] = [join(folder.path, 'there'), join(folder.path, 'here')]
    open(there).close()
    chmodSync(databaseFile(there), 0o644)
    mkdirSync(here)
    symlinkSync(databaseFile(there), databaseFile(here))
    open(here).close()
    expect(modeOf(databaseFile(there))).toBe('644')
  })

  test.skipIf(process.getuid?.() !== 0)(
    'of another account is refused: nothing is changed or made where it leads',
    () => {
      using folder = temporaryFolder()
      const target = join(folder.path, 'target')
      const data = join(folder.path, 'data')
      mkdirSync(data)
      symlinkSync(target, databaseFile(data))
      lchownSync(databaseFile(data), 4711, 4711)
      expect(() => open(data)).toThrow('is a link that belongs to uid 4711')
      expect(existsSync(target)).toBe(false)
    },
  )
})
