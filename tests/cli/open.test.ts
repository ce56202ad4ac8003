import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noteIfPossible } from '../../src/cli/open.ts'
import { databaseFile, openDatabase } from '../../src/db/open.ts'
import { cli } from '../support/cli.ts'
import { testConfig } from '../support/config.ts'
import { temporaryFolder } from '../support/folder.ts'

const ACTOR = { kind: 'cli' } as const

/** A data directory with a tenant, what notes in it and what was noted. */
async function startFixture() {
  const folder = temporaryFolder()
  await cli(folder.path)('tenant', 'create', '--name', 'Acme')
  const dataDir = join(folder.path, 'data')
  const config = testConfig({ 'data-dir': dataDir })
  return {
    dataDir,
    note: (work: Parameters<typeof noteIfPossible>[1]) => noteIfPossible(config, work),
    noted: async () => {
      const { json } = await cli(folder.path)('audit', 'list', '--action', 'test.', '--json')
      return json().entries.length
    },
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

type Write = Parameters<typeof noteIfPossible>[1]['write']

const write: Write = (db, audit) =>
  db.commit(() =>
    audit.record({ tenantId: null, actor: ACTOR, action: 'test.done', object: 'o', detail: {} }),
  )

test('a note is written, unless it is there already', async () => {
  using fixture = await startFixture()
  await fixture.note({ write, isThere: () => true })
  expect(await fixture.noted()).toBe(0)
  await fixture.note({ write })
  expect(await fixture.noted()).toBe(1)
})

test('a database that cannot take it, or has no table for it, fails nothing', async () => {
  using fixture = await startFixture()
  {
    const db = openDatabase({ dataDir: fixture.dataDir, synchronous: 'normal' })
    db.client.run('DROP TABLE audit_log')
    db.close()
  }
  await fixture.note({ write })

  writeFileSync(databaseFile(fixture.dataDir), 'no database')
  await fixture.note({ write })
})

test('a mistake of ours is none of its troubles', async () => {
  using fixture = await startFixture()
  const mistaken = async () => {
    throw new TypeError('x is undefined')
  }
  await expect(fixture.note({ write: mistaken })).rejects.toThrow('x is undefined')
  const isThere = () => {
    throw new TypeError('y is undefined')
  }
  await expect(fixture.note({ write, isThere })).rejects.toThrow('y is undefined')
})
