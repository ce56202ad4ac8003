import { describe, expect, test } from 'bun:test'
import { checkDigits } from '../../../../src/platform/crypto.ts'
import {
  ACTOR,
  bootGate,
  coded,
  count,
  DAY,
  HOUR,
  type Json,
  mintToken,
  personPath,
  type Tenant,
  TOKENS,
  useGate,
} from '../fixture.ts'
import { besides } from '../webhooks/fixture.ts'

const gate = await useGate({ start: '2026-03-01T12:00:30.123Z' })

const INACTIVE = { active: false }
const UNKNOWN = `gat_live_at_${'0'.repeat(37)}${checkDigits('0'.repeat(37))}`

type Asker = Pick<Tenant, 'api'>

const introspect = ({ api }: Asker, token: string) =>
  api.post(`${TOKENS}/introspect`, { access_token: token })
const revoke = ({ api }: Asker, token: string) =>
  api.post(`${TOKENS}/revoke`, { access_token: token })

const mint = async ({ key }: Pick<Tenant, 'key'>, fields: Json = {}): Promise<string> =>
  (await mintToken(gate.app, key, fields)).access_token

/** An inactive token has no other member. */
async function isActive(by: Asker, token: string): Promise<boolean> {
  const { status, body } = await introspect(by, token)
  expect(status).toBe(200)
  if (!body.active) expect(body).toEqual(INACTIVE)
  return body.active
}

/** Another key of the tenant. */
async function secondKey(acme: Tenant, environment: 'live' | 'test' = 'live', scopes?: string[]) {
  const { id, key } = await acme.newKey('gate', environment, scopes)
  return { id, ...gate.withKey(key) }
}

const revocations = () => count(gate.app, `audit_log where action = 'access_token.revoked'`)

describe('Introspection', () => {
  test('tells a key of the tenant and environment everything about a token', async () => {
    const acme = await gate.newTenant()
    const token = await mint(acme, { scopes: ['authorize'], ttl_seconds: 60 })
    const expected = {
      active: true,
      subject: 'svc-1',
      tenant_id: acme.id,
      scopes: ['authorize'],
      expires_at: new Date(gate.clock.now() + 60_000).toISOString(),
    }
    for (const scopes of [undefined, ['tokens:write'], ['authorize']]) {
      const { body } = await introspect(await secondKey(acme, 'live', scopes), token)
      expect(body).toEqual(expected)
    }
    const weak = await secondKey(acme, 'live', ['identities:read', 'settings:read'])
    expect(await introspect(weak, token)).toMatchObject(coded(403, 'forbidden'))
    const reader = await secondKey(acme, 'live', ['authorize'])
    expect(await revoke(reader, token)).toMatchObject(coded(403, 'forbidden', 'tokens:write'))
  })

  test('tells other tenants and environments nothing, not even that it has expired', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const sandbox = await secondKey(acme, 'test')
    const [live, test] = [await mint(acme), await mint(sandbox)]
    for (const [by, token, expected] of [
      [acme, live, true],
      [sandbox, test, true],
      [sandbox, live, false],
      [acme, test, false],
      [other, live, false],
      [acme, live.replace('_live_', '_test_'), false],
      [acme, UNKNOWN, false],
    ] as const)
      expect(await isActive(by, token)).toBe(expected)
    for (const by of [other, sandbox]) expect(await revoke(by, live)).toMatchObject({ status: 204 })
    expect(await isActive(acme, live)).toBe(true)
    gate.clock.jump(2 * HOUR)
    expect(await isActive(other, live)).toBe(false)
  })

  test.each<[string, (token: string) => string]>([
    ['empty', () => ''],
    ['mistyped', (token) => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')],
    ['with two letters swapped', (token) => `${token.slice(0, -7)}AB${token.slice(-5)}`],
    ['cut', (token) => token.slice(0, -1)],
    ['longer', (token) => `${token}0`],
    ['with a space', (token) => `${token} `],
    ['with a line end', (token) => `${token}\n`],
    ['with a scheme', (token) => `Bearer ${token}`],
    ['of an unknown environment', (token) => token.replace('_live_', '_prod_')],
    ['in capitals', (token) => token.toUpperCase()],
    ['a session token', (token) => token.replace('gat_live_at_', 'gat_st_')],
    ['very long', () => 'gat_live_at_'.padEnd(100_000, '0')],
    ['an API key', () => gate.key],
  ])('of what is %s is refused, as is its revocation', async (_, change) => {
    const acme = await gate.newTenant()
    const token = await mint(acme)
    const refused = coded(400, 'invalid_token', 'access_token: ')
    expect(await introspect(acme, change(token))).toMatchObject(refused)
    expect(await revoke(acme, change(token))).toMatchObject(refused)
    expect(await isActive(acme, token)).toBe(true)
  })

  test('of a malformed body has another code', async () => {
    for (const action of ['introspect', 'revoke'])
      for (const body of [
        {},
        { token: UNKNOWN },
        { access_token: null },
        { access_token: [UNKNOWN] },
      ])
        expect(await gate.api.post(`${TOKENS}/${action}`, body)).toMatchObject(
          coded(400, 'invalid_payload', 'access_token: '),
        )
  })
})

describe('A token ends', () => {
  test.each([
    [1, 1000],
    [86_400, DAY],
  ])('after %d seconds, to the millisecond', async (ttl_seconds, ms) => {
    const acme = await gate.newTenant()
    const token = await mint(acme, { ttl_seconds })
    gate.clock.jump(ms - 1)
    expect(await isActive(acme, token)).toBe(true)
    gate.clock.jump(1)
    expect(await introspect(acme, token)).toMatchObject(
      coded(400, 'invalid_token', 'access_token: '),
    )
    expect(await revoke(acme, token)).toMatchObject({ status: 204 })
    gate.clock.jump(DAY)
    await gate.app.platform.retention.sweep()
    expect(await isActive(acme, token)).toBe(false)
  })

  test('when it is revoked, immediately and alone', async () => {
    const acme = await gate.newTenant()
    const before = revocations()
    const [token, other] = [await mint(acme), await mint(acme)]
    for (let n = 0; n < 2; n++) {
      expect(await revoke(acme, token)).toMatchObject({ status: 204, body: '' })
      expect(await isActive(acme, token)).toBe(false)
    }
    expect(await revoke(acme, UNKNOWN)).toMatchObject({ status: 204 })
    expect(await isActive(acme, other)).toBe(true)
    expect(revocations()).toBe(before + 1)
    gate.clock.jump(2 * HOUR)
    expect(await isActive(acme, token)).toBe(false)
  })

  test('in all processes when it is revoked', async () => {
    await using own = await bootGate()
    await using beside = await besides(own, own.key)
    const { access_token } = await mintToken(own.app, own.key)
    const there = async () => (await beside.post(`${TOKENS}/introspect`, { access_token })).body
    expect(await there()).toMatchObject({ active: true })
    await revoke(own, access_token)
    expect(await there()).toEqual(INACTIVE)
  })

  test('with its key, and with no other', async () => {
    const acme = await gate.newTenant()
    const { keys } = gate.app.platform
    const [revoked, leaked, rotated] = [
      await secondKey(acme),
      await secondKey(acme),
      await secondKey(acme),
    ]
    const ttl = { ttl_seconds: 86_400 }
    const tokens = [await mint(revoked), await mint(leaked), await mint(rotated, ttl)] as const
    const own = await mint(acme, ttl)
    await keys.revoke(ACTOR, revoked.id)
    await keys.rotate(ACTOR, leaked.id, 0)
    await keys.rotate(ACTOR, rotated.id, HOUR)
    expect(await isActive(acme, tokens[0])).toBe(false)
    expect(await isActive(acme, tokens[1])).toBe(false)
    expect(await isActive(acme, tokens[2])).toBe(true)
    gate.clock.jump(HOUR)
    expect(await isActive(acme, tokens[2])).toBe(false)
    expect(await isActive(acme, own)).toBe(true)
  })
})

describe('A token of an identity', () => {
  test.each([
    ['the state route', ({ setState }: Tenant, person: Json) => setState(person, 'inactive')],
    [
      'a patch',
      ({ patch }: Tenant, person: Json) =>
        patch(person, [{ op: 'replace', path: '/state', value: 'inactive' }]),
    ],
  ])('ends for good when %s deactivates it, but not with other changes', async (_, deactivate) => {
    const acme = await gate.newTenant()
    const person = await acme.createIdentity()
    const other = await acme.createIdentity()
    const token = await mint(acme, { subject: person.id })
    const others = [await mint(acme), await mint(acme, { subject: other.id })]
    await acme.setState(person, 'active')
    await acme.patch(person, [{ op: 'replace', path: '/traits/email', value: 'new@example.com' }])
    expect(await isActive(acme, token)).toBe(true)
    await deactivate(acme, person)
    expect(await isActive(acme, token)).toBe(false)
    await acme.setState(person, 'active')
    expect(await isActive(acme, token)).toBe(false)
    expect(await isActive(acme, await mint(acme, { subject: person.id }))).toBe(true)
    for (const one of others) expect(await isActive(acme, one)).toBe(true)
  })

  test('is deleted with it, and unusable even before', async () => {
    const acme = await gate.newTenant()
    const [person, second] = [await acme.createIdentity(), await acme.createIdentity()]
    const tokens = [
      await mint(acme, { subject: person.id }),
      await mint(acme, { subject: second.id }),
    ]
    await acme.api.delete(personPath(person))
    gate.app.db.client.run('delete from gate_identities where id = ?', [second.id])
    for (const token of tokens) expect(await isActive(acme, token)).toBe(false)
    expect(count(gate.app, `gate_access_tokens where subject = '${person.id}'`)).toBe(0)
    expect(count(gate.app, `gate_access_tokens where subject = '${second.id}'`)).toBe(1)
    await acme.createIdentity({ traits: { email: person.traits.email } })
    expect(await isActive(acme, tokens[0] as string)).toBe(false)
  })
})
