import { describe, expect, test } from 'bun:test'
import fs from 'node:fs'
import { join } from 'node:path'
import { restoreMarker } from '../../../src/db/open.ts'
import { handOver } from '../../../src/platform/backup/exchange.ts'
import { ownLike } from '../../../src/platform/backup/files.ts'
import { mark } from '../../../src/platform/backup/marker.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { createHome, PROCESS, tenantsIn } from './fixture.ts'

/** Root restores into a directory that another account can write to. */

const isRoot = process.getuid?.() === 0
const BY = { host: PROCESS.host, pid: PROCESS.pid, at: 0 }
const PREVIOUS = 'before-restore-2026-11-22T06-40-02Z'
const GOOD = { previous: PREVIOUS, files: ['gatehouse.db'], by: BY }

test.each([
  ['a folder elsewhere', { previous: '../victim' }],
  ['an absolute folder', { previous: '/tmp/victim' }],
  ['the data directory', { previous: '.' }],
  ['another folder of the data', { previous: 'backups' }],
  ['a path behind a good name', { previous: `${PREVIOUS}/../../victim` }],
  ['a second line', { previous: `${PREVIOUS}\n` }],
  ['another file', { files: ['gatehouse.db', '../victim'] }],
  ['a file twice', { files: ['gatehouse.db', 'gatehouse.db'] }],
  ['a terminal title', { by: { ...BY, host: '\u001b]0;pwned\u0007' } }],
  ['a terminal command', { by: { ...BY, host: '\u009b2J' } }],
])('A forged marker is refused, and nothing changes: %s', async (_, change) => {
  using home = createHome()
  const { file } = await home.backUp('a.tar.gz')
  home.addTenant('after')
  const victim = join(home.path, 'victim')
  fs.mkdirSync(victim)
  if (isRoot) fs.chownSync(home.dataDir, 1234, 1234)
  const marker = restoreMarker(home.dataDir)
  const written = JSON.stringify({ ...GOOD, ...change })
  fs.writeFileSync(marker, written)
  await expect(home.restore(file)).rejects.toThrow(`${marker} cannot be read`)
  expect(fs.readFileSync(marker, 'utf8')).toBe(written)
  expect(fs.statSync(victim).uid).toBe(process.getuid?.() ?? 0)
  fs.rmSync(marker)
  expect(tenantsIn(home.dataDir)).toEqual(['after'])
})

test('A marker with the second folder of a second is valid, and the restore is completed', async () => {
  using home = createHome()
  const { file } = await home.backUp('a.tar.gz')
  home.addTenant('after')
  const previous = `${PREVIOUS}-2`
  fs.writeFileSync(restoreMarker(home.dataDir), JSON.stringify({ ...GOOD, previous }))
  expect((await home.restore(file)).previous).toBe(join(home.dataDir, previous))
  expect(tenantsIn(join(home.dataDir, previous))).toEqual(['after'])
  expect(tenantsIn(home.dataDir)).toEqual([])
})

describe('An account that exchanges files while root works', () => {
  test.skipIf(!isRoot)('becomes the owner of files of an archive alone', () => {
    using folder = temporaryFolder()
    const exchanged = join(folder.path, 'exchanged')
    fs.mkdirSync(exchanged)
    for (const name of ['gatehouse.db', 'shadow']) fs.writeFileSync(join(exchanged, name), '')
    fs.chownSync(folder.path, 1234, 1234)
    handOver(exchanged, folder.path)
    expect(fs.statSync(join(exchanged, 'gatehouse.db')).uid).toBe(1234)
    expect(fs.statSync(join(exchanged, 'shadow')).uid).toBe(0)
  })

  test.skipIf(!isRoot)('becomes the owner of nothing that a link leads to', () => {
    using folder = temporaryFolder()
    const target = join(folder.path, 'target')
    fs.writeFileSync(target, '')
    fs.chownSync(folder.path, 1234, 1234)
    for (const [name, make] of Object.entries({ symbolic: fs.symlinkSync, hard: fs.linkSync })) {
      make(target, join(folder.path, name))
      expect(() => ownLike(join(folder.path, name), folder.path)).toThrow()
    }
    expect(fs.statSync(target).uid).toBe(0)
  })

  test('lets root write through no link', () => {
    using folder = temporaryFolder()
    const [exchanged, victim] = [join(folder.path, 'exchanged'), join(folder.path, 'victim')]
    fs.mkdirSync(exchanged)
    fs.writeFileSync(victim, 'as it was')
    fs.symlinkSync(victim, join(exchanged, 'marker'))
    const begin = () => mark({ dataDir: folder.path, staged: exchanged, process: PROCESS, now: 0 })
    expect(begin).toThrow('EEXIST')
    expect(fs.readFileSync(victim, 'utf8')).toBe('as it was')
  })
})
