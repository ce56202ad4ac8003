import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/open.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'

const ID = expect.stringMatching(/^[0-9a-f]{12}$/)

const createTenant = (cwd: string) => cli(cwd)('tenant', 'create', '--name', 'Acme')

function putMail(cwd: string, body: string) {
  const db = openDatabase({ dataDir: join(cwd, 'data'), synchronous: 'full' })
  db.client.run(
    `INSERT INTO mails (id, kind, recipient_hash, body, state, tries, due_at, expires_at, created_at)
      VALUES ('m1', 'test', '', ?, 'kept', 0, 0, 0, 0)`,
    [body],
  )
  db.close()
}

test('secrets rotate tells ids and counts, shows progress where somebody watches, and never a key', async () => {
  using folder = temporaryFolder()
  await createTenant(folder.path)
  const file = join(folder.path, 'data', 'master.key')

  // Two at once are one rotation.
  const [json, watched] = await Promise.all([
    cli(folder.path)('secrets', 'rotate', '--json'),
    cli(folder.path, { isWatched: true })('secrets', 'rotate'),
  ])

  expect([json.code, json.err, watched.code]).toEqual([0, '', 0])
  const said = JSON.parse(json.out)
  expect(said).toEqual({ from: ID, to: ID, resealed: {}, duration_ms: expect.any(Number) })
  expect(watched.out).toContain(`Replaced master key ${said.from} with ${said.to}`)
  expect(watched.out).toContain('Back up master.key')
  expect(watched.err).toContain('Waiting for servers to load the new key: 10 seconds')
  const key = readFileSync(file, 'utf8').trim().split(':')[1] as string
  for (const text of [json.out, watched.out, watched.err]) expect(text).not.toContain(key)
  const { out } = await cli(folder.path)('doctor')
  expect(out).toContain(`id ${said.to}`)
}, 30_000)

test('secrets rotate exits with 1 and names the tables where something cannot be opened', async () => {
  using folder = temporaryFolder()
  await createTenant(folder.path)
  putMail(folder.path, 'no sealed text')

  const json = await cli(folder.path)('secrets', 'rotate', '--json')
  const text = await cli(folder.path)('secrets', 'rotate')

  expect([json.code, text.code]).toEqual([1, 1])
  const said = JSON.parse(json.out)
  expect(said).toMatchObject({ resealed: {}, unopenable: { mails: 1 } })
  expect(text.out).toContain(
    `some secrets cannot be decrypted, so the old key ${said.from} is kept beside ${said.to}.`,
  )
  expect(text.out).toContain('mails: 1\n  m1')
  expect(said.unopenable_rows).toEqual({ mails: [{ id: 'm1', tenant_id: null }] })
})

test('secrets rotate names the first twenty of a table that cannot be opened, with their tenant', async () => {
  using folder = temporaryFolder()
  await createTenant(folder.path)
  const db = openDatabase({ dataDir: join(folder.path, 'data'), synchronous: 'full' })
  const tenant = db.client.query<{ id: string }, []>('SELECT id FROM tenants').get()?.id
  for (let n = 0; n < 25; n++)
    db.client.run(
      `INSERT INTO mails (id, tenant_id, kind, recipient_hash, body, state, tries, due_at, expires_at, created_at)
        VALUES (?, ?, 'test', '', 'none', 'kept', 0, 0, 0, 0)`,
      [`m${n}`, tenant ?? ''],
    )
  db.close()

  const { unopenable, unopenable_rows } = (
    await cli(folder.path)('secrets', 'rotate', '--json')
  ).json()

  expect(unopenable).toEqual({ mails: 25 })
  expect(unopenable_rows.mails).toHaveLength(20)
  expect(unopenable_rows.mails.at(-1)).toEqual({ id: 'm19', tenant_id: tenant })
  const { out } = await cli(folder.path)('secrets', 'rotate')
  expect(out).toMatch(new RegExp(`mails: 25\n  m0 +tenant ${tenant}\n`))
})

test('secrets rotate makes nothing where there is no data', async () => {
  using folder = temporaryFolder()

  const { code, err } = await cli(folder.path)('secrets', 'rotate')

  expect(code).toBe(1)
  expect(err).toContain('no data in')
})
