import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  forgetTurns,
  openServerState,
  readServerState,
  setAside,
} from '../../src/failover/data-directory.ts'
import { temporaryFolder } from '../support/folder.ts'

test('A database is set aside with its log and its key, and the key stays', () => {
  using folder = temporaryFolder()
  for (const name of ['gatehouse.db', 'gatehouse.db-wal', 'master.key'])
    writeFileSync(join(folder.path, name), name)
  const aside = setAside(folder.path, { id: 'a', generation: 3 }, Date.UTC(2026, 0, 2))
  expect(aside).toBe(join(folder.path, 'set-aside', '2026-01-02T00-00-00Z-generation-3'))
  expect(readdirSync(aside).toSorted()).toEqual(['gatehouse.db', 'gatehouse.db-wal', 'master.key'])
  expect(existsSync(join(folder.path, 'gatehouse.db'))).toBe(false)
  expect(readFileSync(join(folder.path, 'master.key'), 'utf8')).toBe('master.key')
})

test('A restored database is not taken for one that was handed over, which is deleted', () => {
  using folder = temporaryFolder()
  forgetTurns(folder.path)
  expect(readServerState(folder.path)).toBeUndefined()
  openServerState(folder.path).change({ generation: 3, isReleased: true })
  forgetTurns(folder.path)
  expect(readServerState(folder.path)).toMatchObject({ generation: 0, isReleased: false })
})
