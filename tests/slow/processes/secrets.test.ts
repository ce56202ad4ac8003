import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../../src/db/open.ts'
import { cli } from '../../support/cli.ts'
import { temporaryFolder } from '../../support/folder.ts'

/** A tenant, and emails whose bodies no key can open. */
async function newHome(emails = 0) {
  const folder = temporaryFolder()
  const { json } = await cli(folder.path)('tenant', 'create', '--name', 'Acme', '--json')
  const tenant: string = json().id
  const db = openDatabase({ dataDir: join(folder.path, 'data'), synchronous: 'full' })
  for (let n = 0; n < emails; n++)
    db.client.run(
      `INSERT INTO mails (id, tenant_id, kind, recipient_hash, body, state, tries, due_at, expires_at, created_at)
        VALUES (?, ?, 'test', '', 'not sealed', 'kept', 0, 0, 0, 0)`,
      [`m${n}`, n === 0 ? null : tenant],
    )
  db.close()
  return { path: folder.path, tenant, [Symbol.dispose]: folder[Symbol.dispose] }
}

test('secrets rotate reports ids and counts, shows progress to a person, and never prints a key', async () => {
  using home = await newHome()
  // Two at once are one rotation.
  const [{ code, err, json, out }, watched] = await Promise.all([
    cli(home.path)('secrets', 'rotate', '--json'),
    cli(home.path, { isWatched: true })('secrets', 'rotate'),
  ])

  expect([code, err, watched.code]).toEqual([0, '', 0])
  const id = expect.stringMatching(/^[0-9a-f]{12}$/)
  const { from, to } = json()
  expect(json()).toEqual({ from: id, to: id, resealed: {}, duration_ms: expect.any(Number) })
  expect(watched.out).toContain(`Replaced master key ${from} with ${to}`)
  expect(watched.out).toContain('Back up master.key')
  expect(watched.err).toContain('Waiting for servers to load the new key: 10 seconds')
  const [, key = ''] = readFileSync(join(home.path, 'data', 'master.key'), 'utf8').split(':')
  for (const text of [out, watched.out, watched.err]) expect(text).not.toContain(key.trim())
  expect((await cli(home.path)('doctor')).out).toContain(`id ${to}`)
}, 30_000)

test('secrets rotate fails where something cannot be opened, and lists 20 rows of each table', async () => {
  using home = await newHome(25)
  const json = await cli(home.path)('secrets', 'rotate', '--json')
  const { code, out } = await cli(home.path)('secrets', 'rotate')

  expect([json.code, code]).toEqual([1, 1])
  const { from, to, unopenable_rows, ...rest } = json.json()
  expect(rest).toMatchObject({ resealed: {}, unopenable: { mails: 25 } })
  expect(unopenable_rows.mails).toHaveLength(20)
  expect(unopenable_rows.mails[0]).toEqual({ id: 'm0', tenant_id: null })
  expect(unopenable_rows.mails[19]).toEqual({ id: 'm19', tenant_id: home.tenant })
  const kept = `some secrets cannot be decrypted, so the old key ${from} is kept beside ${to}.`
  expect(out).toContain(kept)
  expect(out).toMatch(new RegExp(`mails: 25\n  m0\\s*\n  m1 +tenant ${home.tenant}\n`))
})

test('secrets rotate needs data', async () => {
  using folder = temporaryFolder()
  const { code, err } = await cli(folder.path)('secrets', 'rotate')
  expect([code, err]).toEqual([1, expect.stringContaining('no data in')])
})
