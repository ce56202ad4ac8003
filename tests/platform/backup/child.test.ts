import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { archiveInChild } from '../../../src/platform/backup/child.ts'
import { until } from '../../support/binary.ts'
import { createHome, piecesOf, sha256 } from './fixture.ts'

const { signal } = new AbortController()

test('A process of its own makes the archive and leaves the log of the database alone', async () => {
  using home = createHome()
  const { client } = home.db
  client.run('PRAGMA wal_autocheckpoint = 0')
  const file = join(home.dataDir, 'backups', 'a.tar.gz')
  const insert = "INSERT INTO backups VALUES ('b', 'schedule', 'i', 0, NULL, ?, NULL, NULL)"
  client.query(insert).run(file)
  const log = () => sha256(readFileSync(`${home.db.file}-wal`))
  const before = log()

  const { bytes } = await archiveInChild(home.dataDir, file, signal)

  expect(bytes).toBe(Bun.file(file).size)
  expect((await piecesOf(file)).map(({ header }) => header.name)).toContain('master.key')
  expect(log()).toBe(before)
  await expect(archiveInChild(home.dataDir, file, signal)).rejects.toThrow('already exists')
}, 30_000)

test('It creates no directory outside of the data directory', async () => {
  using home = createHome()
  const missing = join(home.path, 'mnt', 'usb')
  const made = archiveInChild(home.dataDir, join(missing, 'a.tar.gz'), signal)
  await expect(made).rejects.toThrow(`directory ${missing} does not exist`)
  expect(existsSync(join(home.path, 'mnt'))).toBe(false)
}, 30_000)

test('An aborted backup leaves no copy behind', async () => {
  using home = createHome()
  home.db.client.run('CREATE TABLE large (x); INSERT INTO large VALUES (randomblob(4000000))')
  const controller = new AbortController()
  const made = archiveInChild(home.dataDir, join(home.path, 'a.tar.gz'), controller.signal)
  made.catch(() => {})
  await until(() => readdirSync(home.path).some((name) => name.startsWith('.gatehouse-work')))

  controller.abort()

  await expect(made).rejects.toThrow()
  expect(readdirSync(home.path).filter((name) => name.startsWith('.'))).toEqual([])
}, 30_000)
