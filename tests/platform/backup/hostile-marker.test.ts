import { expect, test } from 'bun:test'
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

test('A forged marker is refused and changes nothing; a valid one is completed', async () => {
  using home = createHome()
  const { dataDir } = home
  const { file } = await home.backUp('a.tar.gz')
  home.addTenant('after')
  const victim = join(home.path, 'victim')
  fs.mkdirSync(victim)
  if (isRoot) fs.chownSync(dataDir, 1234, 1234)
  const marker = restoreMarker(dataDir)
  for (const change of [
    ...[{ previous: '../victim' }, { previous: '/tmp/victim' }, { previous: '.' }],
    ...[{ previous: 'backups' }, { previous: `${PREVIOUS}/../../victim` }],
    ...[{ previous: `${PREVIOUS}\n` }, { files: ['gatehouse.db', '../victim'] }],
    { files: ['gatehouse.db', 'gatehouse.db'] },
    // A title and a command for the terminal.
    ...[{ by: { ...BY, host: '\u001b]0;pwned\u0007' } }, { by: { ...BY, host: '\u009b2J' } }],
  ]) {
    const written = JSON.stringify({ ...GOOD, ...change })
    fs.writeFileSync(marker, written)
    await expect(home.restore(file), written).rejects.toThrow(`${marker} cannot be read`)
    expect(fs.readFileSync(marker, 'utf8')).toBe(written)
    expect(fs.statSync(victim).uid).toBe(process.getuid?.() ?? 0)
    fs.rmSync(marker)
    expect(tenantsIn(dataDir)).toEqual(['after'])
  }
  // As for the second restore of a second.
  const previous = `${PREVIOUS}-2`
  fs.writeFileSync(marker, JSON.stringify({ ...GOOD, previous }))
  expect((await home.restore(file)).previous).toBe(join(dataDir, previous))
  expect([tenantsIn(join(dataDir, previous)), tenantsIn(dataDir)]).toEqual([['after'], []])
})

test.skipIf(!isRoot)(
  'An account that exchanges files while root works owns files of an archive alone',
  () => {
    using folder = temporaryFolder()
    const [exchanged, target] = [join(folder.path, 'exchanged'), join(folder.path, 'target')]
    fs.mkdirSync(exchanged)
    for (const name of ['gatehouse.db', 'shadow']) fs.writeFileSync(join(exchanged, name), '')
    fs.writeFileSync(target, '')
    fs.chownSync(folder.path, 1234, 1234)
    handOver(exchanged, folder.path)
    expect(fs.statSync(join(exchanged, 'gatehouse.db')).uid).toBe(1234)
    expect(fs.statSync(join(exchanged, 'shadow')).uid).toBe(0)
    for (const [name, make] of Object.entries({ symbolic: fs.symlinkSync, hard: fs.linkSync })) {
      make(target, join(folder.path, name))
      expect(() => ownLike(join(folder.path, name), folder.path)).toThrow()
    }
    expect(fs.statSync(target).uid).toBe(0)
  },
)

test('An account that exchanges files lets root write through no link', () => {
  using folder = temporaryFolder()
  const [exchanged, victim] = [join(folder.path, 'exchanged'), join(folder.path, 'victim')]
  fs.mkdirSync(exchanged)
  fs.writeFileSync(victim, 'as it was')
  fs.symlinkSync(victim, join(exchanged, 'marker'))
  const begin = () => mark({ dataDir: folder.path, staged: exchanged, process: PROCESS, now: 0 })
  expect(begin).toThrow('EEXIST')
  expect(fs.readFileSync(victim, 'utf8')).toBe('as it was')
})
