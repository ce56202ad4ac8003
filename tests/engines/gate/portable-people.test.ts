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

/** The export with something else in the first line of a kind. */
function changed(kind: string, changes: object): string {
  const next = structuredClone(lines)
  Object.assign(
    next.find((line) => line.kind === kind),
    changes,
  )
  return fileOf(next)
}

const tenantsThere = () => home.platform.tenants.list().map(({ id }) => id)

describe('what the API would not have made of somebody is refused', () => {
  const EXPECTED = 'line 4: address.value: must be the address of its identity'

  test.each<[string, string, object, string]>([
    ['an address that is not theirs', 'address', { value: 'root@evil.com' }, EXPECTED],
    ['their address in another spelling', 'address', { value: 'ADA@example.com' }, EXPECTED],
    ['an address that is none', 'address', { value: 'ROOT@Evil.COM <script>' }, EXPECTED],
    [
      'an address that was proven at no time',
      'address',
      { status: 'completed', verified_at: null },
      'line 4: address.verified_at: must only be set if status is completed',
    ],
    [
      'an address that was proven, and still waits for it',
      'address',
      { status: 'sent', verified_at: '2026-03-01T12:00:00.000Z' },
      'line 4: address.verified_at: must only be set if status is completed',
    ],
    [
      'sessions that could not be ended any more',
      'identity',
      { session_generation: Number.MAX_SAFE_INTEGER },
      'identity.session_generation: must be at most 1000000000',
    ],
    [
      'tokens that could not be ended any more',
      'identity',
      { token_generation: Number.MAX_SAFE_INTEGER },
      'identity.token_generation: must be at most 1000000000',
    ],
  ])('%s', async (_, kind, changes, message) => {
    await expect(importInto(home, changed(kind, changes))).rejects.toThrow(message)
    expect(tenantsThere()).toEqual([])
  })

  test('a person without an address', async () => {
    const without = lines.filter(({ kind }) => kind !== 'address')
    await expect(importInto(home, fileOf(without))).rejects.toThrow(
      `line ${without.length}: address: must have one line for each identity`,
    )
    expect(tenantsThere()).toEqual([])
  })
})

describe('ids of people who were deleted', () => {
  test('are not those of people of the same file', async () => {
    const [{ id }] = ofKind(lines, 'identity')
    await expect(importInto(home, changed('erased_identity', { identity_id: id }))).rejects.toThrow(
      'line 5: erased_identity.identity_id: is the id of an existing identity',
    )
  })

  test('are not those of another tenant’s people, who could not be deleted any more', async () => {
    const other = await bootParty(home)
    const bob = await other.createIdentity()
    await expect(
      importInto(home, changed('erased_identity', { identity_id: bob.id })),
    ).rejects.toThrow('line 5: erased_identity.identity_id: is the id of an existing identity')
    expect(tenantsThere()).toEqual([other.id])
    expect(await other.api.delete(`${IDENTITIES}/${bob.id}`)).toMatchObject({ status: 204 })
  })

  test('of another tenant are nobody’s who comes', async () => {
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

  test('come with their tenant', async () => {
    await importInto(home, fileOf(lines))
    expect(ofKind(exportOf(home, fixture.acme.id), 'erased_identity')).toEqual(
      ofKind(lines, 'erased_identity'),
    )
  })
})

describe('a person whose id is among those of deleted people', () => {
  test('can be deleted all the same, and is cleared away', async () => {
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
