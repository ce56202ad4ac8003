import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { databaseFile } from '../../../src/db/open.ts'
import { actorsIn } from '../../../src/platform/backup/contents.ts'
import { takeSnapshot } from '../../../src/platform/backup/snapshot.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'

test('views and triggers of the operator stay where they are, and out of the backup', async () => {
  using folder = temporaryFolder()
  using copies = temporaryFolder()
  using client = new Database(databaseFile(folder.path))
  client.run('CREATE TABLE things (id TEXT); INSERT INTO things VALUES (1)')
  client.run('CREATE VIEW "my ""things" AS SELECT * FROM things')
  client.run('CREATE TRIGGER mine AFTER INSERT ON things BEGIN SELECT 1; END')
  client.run('CREATE VIRTUAL TABLE found USING fts5(text)')

  await takeSnapshot({
    dataDir: folder.path,
    folder: copies.path,
    withKey: false,
    clock: systemClock,
  })
  using copy = new Database(join(copies.path, 'gatehouse.db'))
  expect(actorsIn(copy)).toEqual([])
  expect(copy.query('SELECT id FROM things').all()).toEqual([{ id: '1' }])
  expect(actorsIn(client)).toHaveLength(3)
})
