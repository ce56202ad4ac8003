import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { openDatabase } from '../../../src/db/open.ts'
import { createHome, PROCESS, tenantsIn } from '../../platform/backup/fixture.ts'
import { temporaryFolder } from '../../support/folder.ts'

test('A commit is refused after 5 seconds behind a lock, and its observer is told', async () => {
  using folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'normal' })
  db.client.run('CREATE TABLE notes (text TEXT)')
  const told: string[] = []
  db.observe({ committed: () => told.push('committed'), failed: (works) => told.push(`${works}`) })
  const other = new Database(db.file)
  other.run('BEGIN IMMEDIATE')
  const written = db.commit(() => db.client.run("INSERT INTO notes VALUES ('a')"))
  await expect(written).rejects.toThrow('holds the database lock')
  other.run('ROLLBACK')
  other.close()
  db.close()
  expect(told).toEqual(['1'])
}, 10_000)

test('A restore is refused beside a command that has the database open, whose writes stay', async () => {
  using home = createHome()
  const { file } = await home.backUp('a.tar.gz')
  home.db.close()
  // Such as `import` or `tenant create`, which write no heartbeat.
  const command = openDatabase({ dataDir: home.dataDir, synchronous: 'full' })
  // This process has the database open too, so that only the lock can tell.
  const restored = home.restore(file, { process: { ...PROCESS, pid: process.pid } })
  await expect(restored).rejects.toThrow('has the database in')
  command.client.run("INSERT INTO tenants VALUES ('t', 't', 'free', 'active', NULL, 0, 0)")
  command.close()
  expect(tenantsIn(home.dataDir)).toEqual(['t'])
  expect(readdirSync(home.dataDir).filter((name) => name.includes('restore'))).toEqual([])
})
