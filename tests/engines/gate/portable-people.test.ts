import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { exportOf, fileOf, importInto, type Line, ofKind } from '../../platform/portable/fixture.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { bootGate, bootParty, type Fixture, IDENTITIES } from './fixture.ts'

const ADA = 'ada@example.com'

let fixture: Fixture
let lines: Line[]
beforeAll(async () => {
  fixture = await bootGate()
  await fixture.createIdentity({ traits: { email: ADA } })
  const gone = await fixture.createIdentity()
  await fixture.api.delete(`${IDENTITIES}/${gone.id}`)
  lines = exportOf(fixture.app, fixture.acme.id)
})
afterAll(() => fixture.app.stop())

let home: TestApp
beforeEach(async () => {
  home = await bootTestApp()
})
afterEach(() => home.stop())

/** The export with a change in the first line of a kind. */
function changed(kind: string, changes: object): string {
  const next = structuredClone(lines)
  Object.assign(
    next.find((line) => line.kind === kind),
    changes,
  )
  return fileOf(next)
}

const tenantsThere = () => home.platform.tenants.list().map(({ id }) => id)

describe('An import is refused', () => {
  const at = '2026-03-01T12:00:00.000Z'
  test.each<[string, object, string]>([
    ['address', { value: 'root@evil.com' }, 'line 4: address.value: '],
    ['address', { value: 'ADA@example.com' }, 'line 4: address.value: '],
    ['address', { value: 'ROOT@Evil.COM <script>' }, 'line 4: address.value: '],
    ['address', { status: 'completed', verified_at: null }, 'line 4: address.verified_at: '],
    ['address', { status: 'sent', verified_at: at }, 'line 4: address.verified_at: '],
    ['identity', { session_generation: Number.MAX_SAFE_INTEGER }, 'identity.session_generation: '],
    ['identity', { token_generation: Number.MAX_SAFE_INTEGER }, 'identity.token_generation: '],
  ])('with the %s %j', async (kind, changes, message) => {
    await expect(importInto(home, changed(kind, changes))).rejects.toThrow(message)
    expect(tenantsThere()).toEqual([])
  })

  test('without an address', async () => {
    const without = lines.filter(({ kind }) => kind !== 'address')
    await expect(importInto(home, fileOf(without))).rejects.toThrow(
      `line ${without.length}: address: must have one line for each identity`,
    )
    expect(tenantsThere()).toEqual([])
  })
})

describe('The ids of deleted identities', () => {
  test('cannot be those of identities in the same file', async () => {
    const [{ id }] = ofKind(lines, 'identity')
    await expect(importInto(home, changed('erased_identity', { identity_id: id }))).rejects.toThrow(
      'line 5: erased_identity.identity_id: is the id of an existing identity',
    )
  })

  test("cannot be those of another tenant's identities", async () => {
    const other = await bootParty(home)
    const bob = await other.createIdentity()
    await expect(
      importInto(home, changed('erased_identity', { identity_id: bob.id })),
    ).rejects.toThrow('line 5: erased_identity.identity_id: is the id of an existing identity')
    expect(tenantsThere()).toEqual([other.id])
    expect(await other.api.delete(`${IDENTITIES}/${bob.id}`)).toMatchObject({ status: 204 })
  })

  test('of another tenant cannot be imported as identities', async () => {
    const other = await bootParty(home)
    const bob = await other.createIdentity()
    await other.api.delete(`${IDENTITIES}/${bob.id}`)
    const text = fileOf(lines).replaceAll(ofKind(lines, 'identity')[0].id, bob.id)
    const rows = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    await expect(importInto(home, fileOf(rows))).rejects.toThrow(
      'line 3: identity.id: is the id of a deleted identity',
    )
    expect(tenantsThere()).toEqual([other.id])
  })

  test('move with their tenant', async () => {
    await importInto(home, fileOf(lines))
    expect(ofKind(exportOf(home, fixture.acme.id), 'erased_identity')).toEqual(
      ofKind(lines, 'erased_identity'),
    )
  })
})

describe('An identity whose id is among the deleted ones', () => {
  test('can be deleted and erased', async () => {
    const other = await bootParty(home)
    const bob = await other.createIdentity()
    const { id } = await home.tenant('Older')
    const times = [1, 2]
    home.db.client.query('insert into gate_erasures values (?, ?, ?, ?)').run(bob.id, id, ...times)

    expect(await other.api.delete(`${IDENTITIES}/${bob.id}`)).toMatchObject({ status: 204 })
    expect(home.db.client.query('select tenant_id from gate_erasures').all()).toEqual([
      { tenant_id: other.id },
    ])
    expect(await other.api.get(`${IDENTITIES}/${bob.id}`)).toMatchObject({ status: 404 })
  })
})
