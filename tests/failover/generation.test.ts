import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile } from '../../src/db/open.ts'
import { beginDatabase } from '../../src/failover/generation.ts'
import { temporaryFolder } from '../support/folder.ts'

test('No other account can read a database that was a copy, or its log', () => {
  using folder = temporaryFolder()
  const copy = join(folder.path, 'copy.db')
  const database = new Database(copy)
  database.run('PRAGMA journal_mode = wal')
  database.run('CREATE TABLE a (b)')
  database.close()
  chmodSync(copy, 0o644)
  beginDatabase({ dataDir: folder.path, copy, txid: 1n, now: 0 })
  const file = databaseFile(folder.path)
  for (const name of [file, `${file}-wal`, `${file}-shm`])
    expect([name, statSync(name).mode & 0o777]).toEqual([name, 0o600])
})
