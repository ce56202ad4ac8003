import { expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { migrations } from '../../../drizzle/index.ts'
import {
  archiveName,
  checkArchive,
  createBackupStore,
  makeBackup,
  newKeyPair,
  ownDirectory,
} from '../../../src/platform/backup/index.ts'
import { newId } from '../../../src/platform/ids.ts'
import { audited, SECOND, useConsole } from '../fixture.ts'

const LIST = '/installation/backups'
const app = await useConsole()
const admin = await app.newAdmin()
const dataDir = dirname(app.db.file)
const store = createBackupStore(app.db)
const process = { version: 'test', host: 'test', pid: 1, isRunning: () => false }

/** A backup made by command, recorded like one. */
async function newBackup(encryptTo: string[] = []) {
  app.clock.jump(SECOND)
  const startedAt = app.clock.now()
  const file = join(ownDirectory(dataDir), archiveName(startedAt, encryptTo.length > 0))
  const { bytes } = await makeBackup({
    ...{ dataDir, to: { file, ownerOf: dataDir }, withKey: true, encryptTo },
    ...{ clock: app.clock, process },
  })
  const id = newId()
  const origin = 'command' as const
  store.add({ id, origin, owner: null, startedAt, endedAt: startedAt, file, bytes, error: null })
  return { id, file, page: `${LIST}/${id}` }
}

/** The manifest of downloaded bytes, checked as before a restore. */
const manifestOf = (bytes: Uint8Array) =>
  checkArchive({
    open: () => Readable.from([Buffer.from(bytes)]),
    ...{ migrations, clock: app.clock, process, workIn: dataDir },
  })

/** What the download form gets. */
async function download(page: string, fields: Record<string, string> = {}) {
  const address = page.replace('/installation', '/console/installation')
  const response = await app.app.fetch(
    new Request(`http://localhost${address}/download`, {
      method: 'POST',
      headers: { cookie: admin.cookie },
      body: new URLSearchParams(fields),
    }),
  )
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) }
}

test('A backup is downloaded with or without the master key, by a form that is logged', async () => {
  const { id, file, page } = await newBackup()
  ;(await admin.open(LIST)).says(archiveName(app.clock.now()), 'Completed')
  const detail = await admin.sees(page, 'Download backup', 'anyone who has the file can read')
  detail.says(
    `gatehouse restore ${file} --data-dir ${dataDir}`,
    `restore - &lt; ${archiveName(app.clock.now())}`,
  )
  const whole = await download(page, { key: 'true' })
  expect(Buffer.from(whole.bytes).equals(readFileSync(file))).toBe(true)
  expect(whole.response.headers.get('content-disposition')).toContain(archiveName(app.clock.now()))
  expect(whole.response.headers.get('cache-control')).toBe('no-store')
  const keyless = await download(page)
  expect((await manifestOf(keyless.bytes)).master_key).toBeNull()
  expect((await manifestOf(whole.bytes)).master_key).not.toBeNull()
  expect(keyless.response.headers.get('content-disposition')).toContain('-without-key.tar.gz')
  expect(audited(app, 'backup.downloaded').map(({ object, detail }) => [object, detail])).toEqual([
    [`backup:${id}`, '{"with_key":true}'],
    [`backup:${id}`, '{"with_key":false}'],
  ])
  expect((await admin.open(`${page}/download`)).status).toBe(405)
})

test('An encrypted backup is downloaded as it is, and checked only with its private key', async () => {
  const { recipient } = await newKeyPair()
  const { id, file, page } = await newBackup([recipient])
  const detail = await admin.sees(page, 'Completed and encrypted', 'Yes, with age')
  detail.omits('Check backup', 'Include the master key')
  detail.says('--identity private-key.txt --data-dir')
  const { bytes, response } = await download(page)
  expect(Buffer.from(bytes).equals(readFileSync(file))).toBe(true)
  expect(response.headers.get('content-disposition')).toContain('.tar.gz.age"')
  const refused = await admin.send(`${page}/check`)
  expect(refused.status).toBe(409)
  refused.says(`gatehouse backup check ${file} --identity FILE`)
  app.db.client.run('DELETE FROM backups WHERE id = ?', [id])
})

test('A backup is deleted with its file; one whose file is gone leaves only its record', async () => {
  const { id, file, page } = await newBackup()
  expect((await admin.send(`${page}/delete`)).location).toContain('/installation/backups?done=')
  expect([existsSync(file), store.find(id)]).toEqual([false, undefined])
  expect(audited(app, 'backup.deleted')).toMatchObject([{ object: `backup:${id}` }])
  const gone = await newBackup()
  rmSync(gone.file)
  ;(await admin.open(gone.page)).says('The file was removed').omits('Download backup')
  expect((await download(gone.page)).response.status).toBe(409)
  await admin.send(`${gone.page}/delete`)
  expect(store.find(gone.id)).toBeUndefined()
})

test('Failed backups come first, and selected backups are deleted, each with an entry of its own', async () => {
  const [one, two, busy] = [await newBackup(), await newBackup(), await newBackup()]
  app.db.client.run("UPDATE backups SET error = 'disk full' WHERE id = ?", [one.id])
  app.db.client.run('UPDATE backups SET ended_at = NULL WHERE id = ?', [busy.id])
  expect((await admin.open(LIST)).text).toMatch(/Failed ?1 All/)
  expect((await admin.open(`${LIST}?state=failed`)).rows).toEqual([one.id])
  const before = audited(app, 'backup.deleted').length
  const ids = [one, two, busy].map(({ id }) => ['ids[]', id])
  const page = await admin.send(`${LIST}/selected/delete`, ids)
  page.says('2 backups deleted. 1 backup not deleted: The backup is still being made.')
  expect([one, two].map(({ file }) => existsSync(file))).toEqual([false, false])
  expect(audited(app, 'backup.deleted').slice(before)).toMatchObject(
    [one, two].map(({ id }) => ({ object: `backup:${id}` })),
  )
  app.db.client.run('DELETE FROM backups WHERE id = ?', [busy.id])
  const { owner } = await app.newTenant()
  expect((await owner.send(`${LIST}/selected/delete`, ids)).status).toBe(403)
})

test('A link in the place of a backup is not followed, and one in progress stays', async () => {
  const linked = await newBackup()
  rmSync(linked.file)
  symlinkSync(join(dataDir, 'master.key'), linked.file)
  expect((await download(linked.page, { key: 'true' })).response.status).toBe(409)
  app.db.client.run('UPDATE backups SET ended_at = NULL WHERE id = ?', [linked.id])
  expect((await admin.send(`${linked.page}/delete`)).status).toBe(409)
  expect(store.find(linked.id)).toBeDefined()
})
