import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { archiveInChild } from '../../../src/platform/backup/child.ts'
import { masterKeyFile } from '../../../src/platform/sealing/key-file.ts'
import {
  createHome,
  piecesOf,
  sha256,
  tenantsIn,
  twoStates,
} from '../../platform/backup/fixture.ts'
import { until } from '../../support/binary.ts'

const { signal } = new AbortController()

test('The child of a server makes the archive and leaves the log of the database alone', async () => {
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
  const missing = join(home.path, 'mnt', 'usb')
  const refused = archiveInChild(home.dataDir, join(missing, 'a.tar.gz'), signal)
  await expect(refused).rejects.toThrow(`directory ${missing} does not exist`)
  expect(existsSync(join(home.path, 'mnt'))).toBe(false)
}, 30_000)

test('An aborted child leaves no copy behind', async () => {
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

const canMount =
  process.platform === 'linux' &&
  Bun.spawnSync(['unshare', '-m', 'mount', '--bind', '/tmp', '/tmp']).exitCode === 0

test.skipIf(!canMount)(
  'A restore reports a mounted key before anything moves',
  async () => {
    using states = await twoStates()
    const { dataDir, path } = states
    const [mounted, own] = [join(path, 'mounted'), join(path, 'own')]
    copyFileSync(masterKeyFile(dataDir), mounted)
    writeFileSync(own, states.oldKey)
    const main = join(import.meta.dir, '../../../src/main.ts')
    const command = [process.execPath, main, 'restore', states.file, '--data-dir', dataDir]
    const restoreWith = (secret: string) => {
      const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
      const mount = ['unshare', '-m', 'sh', '-c', script, 'sh', secret, masterKeyFile(dataDir)]
      return Bun.spawnSync([...mount, ...command], { env: {}, stdout: 'pipe', stderr: 'pipe' })
    }

    expect(`${restoreWith(mounted).stderr}`).toContain('replace its source with the key')
    expect(tenantsIn(dataDir)).toEqual(['after', 'before'])
    expect(readdirSync(dataDir).filter((name) => name.includes('restore'))).toEqual([])
    expect(restoreWith(own)).toMatchObject({ exitCode: 0 })
    expect(tenantsIn(dataDir)).toEqual(['before'])
  },
  30_000,
)
