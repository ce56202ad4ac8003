import { describe, expect, test } from 'bun:test'
import { checkDigits } from '../../../../src/platform/crypto.ts'
import {
  ACTOR,
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

const UNKNOWN = `gat_live_at_${'0'.repeat(37)}${checkDigits('0'.repeat(37))}`

type Asker = {
  api: { post: (path: string, body: Json) => Promise<{ status: number; body: Json }> }
}

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
  if (!body.active) expect(body).toEqual({ active: false })
  return body.active
}

/** Another key of the tenant. */
async function secondKey(acme: Tenant, environment: 'live' | 'test' = 'live', scopes?: string[]) {
  const { id, key } = await acme.newKey('gate', environment, scopes)
  return { id, ...gate.withKey(key) }
}

const revocations = () => count(gate.app, `audit_log where action = 'access_token.revoked'`)

describe('Introspection', () => {
  test('tells keys of the tenant and environment everything about a token', async () => {
    const acme = await gate.newTenant()
    const token = await mint(acme, { scopes: ['authorize'], ttl_seconds: 60 })
    for (const scopes of [undefined, ['tokens:write'], ['authorize']]) {
      const { body } = await introspect(await secondKey(acme, 'live', scopes), token)
      expect(body).toEqual({
        ...{ active: true, subject: 'svc-1', tenant_id: acme.id, scopes: ['authorize'] },
        expires_at: new Date(gate.clock.now() + 60_000).toISOString(),
      })
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

  test('and revocation refuse a malformed token and a malformed body', async () => {
    const acme = await gate.newTenant()
    const token = await mint(acme)
    for (const wrong of [
      ...['', token.slice(0, -1), `${token}0`, `${token} `, `${token}\n`, `Bearer ${token}`],
      token.slice(0, -1) + (token.endsWith('0') ? '1' : '0'),
      `${token.slice(0, -7)}AB${token.slice(-5)}`,
      ...[token.replace('_live_', '_prod_'), token.toUpperCase(), gate.key],
      ...[token.replace('gat_live_at_', 'gat_st_'), 'gat_live_at_'.padEnd(100_000, '0')],
    ]) {
      const refused = coded(400, 'invalid_token', 'access_token: ')
      expect(await introspect(acme, wrong)).toMatchObject(refused)
      expect(await revoke(acme, wrong)).toMatchObject(refused)
    }
    for (const access_token of [undefined, null, [UNKNOWN]]) {
      const refused = coded(400, 'invalid_payload', 'access_token: ')
      expect(await introspect(acme, access_token as never)).toMatchObject(refused)
      expect(await revoke(acme, access_token as never)).toMatchObject(refused)
    }
    expect(await isActive(acme, token)).toBe(true)
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
    const expired = coded(400, 'invalid_token', 'access_token: ')
    expect(await introspect(acme, token)).toMatchObject(expired)
    expect(await revoke(acme, token)).toMatchObject({ status: 204 })
    gate.clock.jump(DAY)
    await gate.app.platform.retention.sweep()
    expect(await isActive(acme, token)).toBe(false)
  })

  test('when it is revoked, immediately, alone and in all processes', async () => {
    const acme = await gate.newTenant()
    await using beside = await besides(gate, acme.key)
    const before = revocations()
    const [token, other] = [await mint(acme), await mint(acme)]
    expect(await isActive({ api: beside }, token)).toBe(true)
    for (let n = 0; n < 2; n++) {
      expect(await revoke(acme, token)).toMatchObject({ status: 204, body: '' })
      for (const by of [acme, { api: beside }]) expect(await isActive(by, token)).toBe(false)
    }
    expect(await revoke(acme, UNKNOWN)).toMatchObject({ status: 204 })
    expect(await isActive(acme, other)).toBe(true)
    expect(revocations()).toBe(before + 1)
    gate.clock.jump(2 * HOUR)
    expect(await isActive(acme, token)).toBe(false)
  })

  test('with its key, and with no other', async () => {
    const acme = await gate.newTenant()
    const { keys } = gate.app.platform
    const made = [await secondKey(acme), await secondKey(acme), await secondKey(acme)] as const
    const [revoked, leaked, rotated] = made
    const tokens = await Promise.all(
      [...made, acme].map((one) => mint(one, { ttl_seconds: 86_400 })),
    )
    const active = () => Promise.all(tokens.map((token) => isActive(acme, token)))
    await keys.revoke(ACTOR, revoked.id)
    await keys.rotate(ACTOR, leaked.id, 0)
    await keys.rotate(ACTOR, rotated.id, HOUR)
    expect(await active()).toEqual([false, false, true, true])
    gate.clock.jump(HOUR)
    expect(await active()).toEqual([false, false, false, true])
  })
})

const INACTIVE = { op: 'replace', path: '/state', value: 'inactive' }

test.each<[string, (acme: Tenant, person: Json) => Promise<unknown>]>([
  ['the state route', ({ setState }, person) => setState(person, 'inactive')],
  ['a patch', ({ patch }, person) => patch(person, [INACTIVE])],
])("%s ends an identity's tokens for good, other changes do not", async (_, deactivate) => {
  const acme = await gate.newTenant()
  const [person, other] = [await acme.createIdentity(), await acme.createIdentity()]
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

test('A token of an identity is deleted with it, and unusable even before', async () => {
  const acme = await gate.newTenant()
  const people = [await acme.createIdentity(), await acme.createIdentity()] as const
  const tokens = await Promise.all(people.map(({ id: subject }) => mint(acme, { subject })))
  await acme.api.delete(personPath(people[0]))
  gate.app.db.client.run('delete from gate_identities where id = ?', [people[1].id])
  for (const token of tokens) expect(await isActive(acme, token)).toBe(false)
  const left = people.map(({ id }) => count(gate.app, `gate_access_tokens where subject = '${id}'`))
  expect(left).toEqual([0, 1])
  await acme.createIdentity({ traits: { email: people[0].traits.email } })
  expect(await isActive(acme, tokens[0] as string)).toBe(false)
})
