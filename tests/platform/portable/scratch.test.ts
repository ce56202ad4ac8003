import { describe, expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { openWorkFolder } from '../../../src/platform/backup/work-folder.ts'
import { openScratch } from '../../../src/platform/portable/scratch.ts'
import { thisProcess } from '../../../src/platform/process.ts'
import { temporaryFolder } from '../../support/folder.ts'

describe('the database that an import is tried in', () => {
  test('has no name, and leaves nothing', () => {
    using folder = temporaryFolder()
    const scratch = openScratch({ dataDir: folder.path, migrations, now: Date.now() })
    expect(readdirSync(folder.path)).toEqual([])
    expect(scratch.client.query('select * from tenants').all()).toEqual([])
    scratch.close()
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('clears away what one of a killed process has left', () => {
    using folder = temporaryFolder()
    const dead = { ...thisProcess('test'), pid: 2 ** 22 + 1 }
    const left = openWorkFolder({ parent: folder.path, process: dead, now: Date.now() })
    writeFileSync(join(left.path, 'gatehouse.db'), 'half a database')
    openScratch({ dataDir: folder.path, migrations, now: Date.now() }).close()
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('that cannot be made leaves nothing either', () => {
    using folder = temporaryFolder()
    const broken = [{ id: '0000_broken', sql: 'no such statement' }]
    expect(() => openScratch({ dataDir: folder.path, migrations: broken, now: 0 })).toThrow()
    expect(readdirSync(folder.path)).toEqual([])
  })
})
