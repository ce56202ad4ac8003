import { describe, expect, test } from 'bun:test'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { restoreMarker } from '../../../src/db/open.ts'
import { handOver } from '../../../src/platform/backup/exchange.ts'
import { mark } from '../../../src/platform/backup/marker.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { createHome, PROCESS, tenantsIn } from './fixture.ts'

/** Root restores into a directory that another account writes to. */

const BY = { host: PROCESS.host, pid: PROCESS.pid, at: 0 }
const GOOD = { previous: 'before-restore-2026-11-22T06-40-02Z', files: ['gatehouse.db'], by: BY }

describe('a marker that no restore has written is refused, and nothing is touched', () => {
  const cases: [string, object][] = [
    ['a folder elsewhere', { previous: '../victim' }],
    ['an absolute one', { previous: '/tmp/victim' }],
    ['the data directory itself', { previous: '.' }],
    ['none', { previous: '' }],
    ['another folder of the data', { previous: 'backups' }],
    ['one behind a good name', { previous: `${GOOD.previous}/../../victim` }],
    ['a second line', { previous: `${GOOD.previous}\n` }],
    ['a file that is none of ours', { files: ['gatehouse.db', '../victim'] }],
    ['the same file twice', { files: ['gatehouse.db', 'gatehouse.db'] }],
    ['words for the terminal', { by: { ...BY, host: '\u001b]0;pwned\u0007' } }],
    ['others for the terminal', { by: { ...BY, host: '\u009b2J' } }],
  ]
  test.each(cases)('%s', async (_, change) => {
    using home = createHome()
    home.addTenant('before')
    const { file } = await home.backUp('a.tar.gz')
    home.addTenant('after')
    const victim = join(home.path, 'victim')
    mkdirSync(victim)
    if (process.getuid?.() === 0) chownSync(home.dataDir, 1234, 1234)
    const marker = restoreMarker(home.dataDir)
    const written = JSON.stringify({ ...GOOD, ...change })
    writeFileSync(marker, written)

    await expect(home.restore(file)).rejects.toThrow(
      `${marker} cannot be read. Make sure that the database and master.key belong together, then remove it`,
    )

    expect(readFileSync(marker, 'utf8')).toBe(written)
    expect(statSync(victim).uid).toBe(process.getuid?.() ?? 0)
    rmSync(marker)
    expect(tenantsIn(home.dataDir)).toEqual(['after', 'before'])
  })
})

test('the second folder of a second is one of ours, and a restore cut short is completed', async () => {
  using home = createHome()
  const { file } = await home.backUp('a.tar.gz')
  home.addTenant('after')
  writeFileSync(
    restoreMarker(home.dataDir),
    JSON.stringify({ ...GOOD, previous: `${GOOD.previous}-2` }),
  )

  const { previous = '' } = await home.restore(file)

  expect(previous).toBe(join(home.dataDir, `${GOOD.previous}-2`))
  expect(existsSync(join(previous, 'gatehouse.db'))).toBe(true)
  expect(tenantsIn(home.dataDir)).toEqual([])
})

describe('a folder that the account has exchanged for another while root worked in it', () => {
  test.skipIf(process.getuid?.() !== 0)('gives it no files but those of an archive', () => {
    using folder = temporaryFolder()
    const exchanged = join(folder.path, 'exchanged')
    mkdirSync(exchanged)
    for (const name of ['gatehouse.db', 'shadow']) writeFileSync(join(exchanged, name), '')
    chownSync(folder.path, 1234, 1234)

    handOver(exchanged, folder.path)

    expect(statSync(join(exchanged, 'gatehouse.db')).uid).toBe(1234)
    expect(statSync(join(exchanged, 'shadow')).uid).toBe(0)
  })

  test('has nothing written over that a link in it leads to', () => {
    using folder = temporaryFolder()
    const [exchanged, victim] = [join(folder.path, 'exchanged'), join(folder.path, 'victim')]
    mkdirSync(exchanged)
    writeFileSync(victim, 'as it was')
    symlinkSync(victim, join(exchanged, 'marker'))
    const begin = () => mark({ dataDir: folder.path, staged: exchanged, process: PROCESS, now: 0 })

    expect(begin).toThrow('EEXIST')
    expect(readFileSync(victim, 'utf8')).toBe('as it was')
  })
})
