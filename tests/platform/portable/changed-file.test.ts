import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { openScratch } from '../../../src/platform/portable/scratch.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { exportOf, fileOf, idNumber, importInto, type Line, ofKind, withPeople } from './fixture.ts'

const TIME = '2026-03-01T12:00:00.000Z'

let old: TestApp
let home: TestApp
let lines: Line[]

beforeAll(async () => {
  old = await bootTestApp()
  const acme = await old.tenant('Acme')
  await acme.key('relay', 'live')
  const gate = old.client((await acme.key('gate', 'live')).key)
  await gate.post('/v1/gate/identities', { schema_id: 'user', traits: { email: 'a@example.com' } })
  lines = exportOf(old, acme.id)
})
afterAll(() => old.stop())
beforeEach(async () => {
  home = await bootTestApp()
})
afterEach(() => home.stop())

/** Imports a file that becomes another one as soon as it has been checked. */
async function importSwapped(before: Line[], after: Line[]) {
  using folder = temporaryFolder()
  const file = join(folder.path, 'acme.ndjson')
  writeFileSync(file, fileOf(before))
  const swapping = () => {
    const scratch = openScratch({ dataDir: folder.path, migrations, now: 0 })
    const close = () => {
      scratch.close()
      writeFileSync(file, fileOf(after))
    }
    return { ...scratch, close }
  }
  return await importInto(home, '', { file, openScratch: swapping })
}

const stored = (table: string) => home.db.client.query(`select * from ${table}`).all()

describe('of a file that changes after its check, nothing is stored that was not checked', () => {
  test('nobody gets a way into another tenant', async () => {
    const victims = await home.tenant('Victims')
    const api = home.client((await victims.key('gate', 'live')).key)
    const { body: victim } = await api.post('/v1/gate/identities', {
      schema_id: 'user',
      traits: { email: 'victim@example.com' },
    })
    const foreign = {
      kind: 'credential',
      tenant_id: lines[0].tenant,
      identity_id: (victim as { id: string }).id,
      type: 'password',
      config: { hashed_password: await Bun.password.hash('known to the attacker') },
      version: 0,
      created_at: TIME,
      updated_at: TIME,
    }
    const before = ofKind(lines, 'api_key')[0]
    const evil = lines.toSpliced(lines.indexOf(before), 0, foreign)

    await expect(importInto(home, fileOf(evil))).rejects.toThrow(
      'line 5: credential: refers to a row that does not exist',
    )
    await expect(importSwapped(lines, evil)).rejects.toThrow('the file changed during the import')
    expect(stored('gate_credentials')).toEqual([])
    expect(home.platform.tenants.exists(lines[0].tenant)).toBe(false)
  })

  test('what was stored before the change is completed by the file as it was', async () => {
    const before = withPeople(lines, 1200)
    const after = before.map((line) =>
      line.kind === 'identity' && line.id === idNumber(700)
        ? { ...line, metadata_public: { roles: ['admin'] } }
        : line,
    )

    await expect(importSwapped(before, after)).rejects.toThrow('the file changed during the import')
    expect(stored('gate_identities')).toHaveLength(499)
    await expect(importInto(home, fileOf(after))).rejects.toThrow('was interrupted')
    await importInto(home, fileOf(before))
    expect(stored('gate_identities')).toHaveLength(1201)
  })

  test('not even where the change is in the last lines', async () => {
    const end = lines.length - 2
    const after = lines.with(end, { ...lines[end], scopes: ['relay:anything'] })
    await expect(importSwapped(lines, after)).rejects.toThrow('the file changed during the import')
    expect(stored('api_keys')).toEqual([])
  })
})
