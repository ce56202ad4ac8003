import { describe, expect, test } from 'bun:test'
import { checkDigits } from '../../../../src/platform/crypto.ts'
import { bootBeside } from '../../relay/fixture.ts'
import {
  ACTOR,
  bootGate,
  bootParty,
  coded,
  count,
  DAY,
  type Fixture,
  HOUR,
  type Json,
  mintToken,
  TOKENS,
} from '../fixture.ts'

const INACTIVE = { active: false }

/** Well-formed, and nobody was given it. */
const UNKNOWN = `gat_live_at_${'0'.repeat(37)}${checkDigits('0'.repeat(37))}`

const introspect = ({ api }: Pick<Fixture, 'api'>, token: string) =>
  api.post(`${TOKENS}/introspect`, { access_token: token })

const revoke = ({ api }: Pick<Fixture, 'api'>, token: string) =>
  api.post(`${TOKENS}/revoke`, { access_token: token })

/** What is told of a token, which is always told with a 200. */
async function toldOf(by: Pick<Fixture, 'api'>, token: string): Promise<Json> {
  const answer = await introspect(by, token)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const isActive = async (by: Pick<Fixture, 'api'>, token: string): Promise<boolean> => {
  const told = await toldOf(by, token)
  if (!told.active) expect(told).toEqual(INACTIVE)
  return told.active
}

async function mint(fixture: Pick<Fixture, 'app' | 'key'>, fields: Json = {}): Promise<string> {
  return (await mintToken(fixture.app, fixture.key, fields)).access_token
}

/** Speaks with another key of the same tenant. */
async function withKey({ app, acme }: Fixture, environment: 'live' | 'test', scopes?: string[]) {
  const { id, key } = await acme.key('gate', environment, scopes)
  return { app, id, key, api: app.client(key) }
}

test('a good token is told with all that it stands for', async () => {
  await using fixture = await bootGate()
  const token = await mint(fixture, { subject: 'svc-1', scopes: ['authorize'], ttl_seconds: 60 })

  expect(await toldOf(fixture, token)).toEqual({
    active: true,
    subject: 'svc-1',
    tenant_id: fixture.acme.id,
    scopes: ['authorize'],
    expires_at: '2026-03-01T12:01:30.000Z',
  })
})

test('any key of the tenant and environment is told, whichever made it', async () => {
  await using fixture = await bootGate()
  const token = await mint(fixture)
  expect(await isActive(await withKey(fixture, 'live'), token)).toBe(true)
})

describe('who may ask', () => {
  test.each(['tokens:write', 'authorize'])('is whoever has %s', async (scope) => {
    await using fixture = await bootGate()
    expect(await isActive(await withKey(fixture, 'live', [scope]), await mint(fixture))).toBe(true)
  })

  test('is nobody else', async () => {
    await using fixture = await bootGate()
    const by = await withKey(fixture, 'live', ['identities:read', 'settings:read'])
    expect(await introspect(by, await mint(fixture))).toMatchObject(
      coded(403, 'forbidden', 'the key lacks the scope tokens:write or authorize'),
    )
  })

  test('and revokes with tokens:write alone', async () => {
    await using fixture = await bootGate()
    const token = await mint(fixture)
    expect(await revoke(await withKey(fixture, 'live', ['authorize']), token)).toMatchObject(
      coded(403, 'forbidden', 'the key lacks the scope tokens:write'),
    )
    expect(await isActive(fixture, token)).toBe(true)
  })
})

describe('what cannot be a token', () => {
  const malformed: [string, (token: string) => string][] = [
    ['is empty', () => ''],
    ['is garbage', () => 'garbage'],
    ['has a wrong check digit', (token) => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')],
    ['has two letters swapped', (token) => `${token.slice(0, -7)}AB${token.slice(-5)}`],
    ['is cut', (token) => token.slice(0, -1)],
    ['is longer', (token) => `${token}0`],
    ['has a blank behind it', (token) => `${token} `],
    ['has a line end behind it', (token) => `${token}\n`],
    ['comes with a scheme', (token) => `Bearer ${token}`],
    ['is of an environment that there is not', (token) => token.replace('_live_', '_prod_')],
    ['is in capitals', (token) => token.toUpperCase()],
    ['is a session token', (token) => token.replace('gat_live_at_', 'gat_st_')],
    ['is the secret alone', (token) => token.replace('gat_live_at_', '')],
    ['is very long', () => 'gat_live_at_'.padEnd(100_000, '0')],
  ]

  test.each(malformed)('and %s answers 400, asked about or revoked', async (_, change) => {
    await using fixture = await bootGate()
    const token = await mint(fixture)
    const refused = coded(400, 'invalid_token', 'must be an access token')

    expect(await introspect(fixture, change(token))).toMatchObject(refused)
    expect(await revoke(fixture, change(token))).toMatchObject(refused)
    expect(await isActive(fixture, token)).toBe(true)
  })

  test('nor is an API key', async () => {
    await using fixture = await bootGate()
    expect(await introspect(fixture, fixture.key)).toMatchObject({ status: 400 })
  })

  test('but a fault of the body has the code of one', async () => {
    await using fixture = await bootGate()
    for (const action of ['introspect', 'revoke']) {
      const path = `${TOKENS}/${action}`
      for (const [body, words] of [
        [{}, 'access_token: is required and must be an access token'],
        [{ token: UNKNOWN }, 'access_token: is required and must be an access token'],
        [{ access_token: null }, 'access_token: must be an access token'],
        [{ access_token: 5 }, 'access_token: must be an access token'],
        [{ access_token: [UNKNOWN] }, 'access_token: must be an access token'],
        [[], 'body: must be a JSON object'],
        [null, 'body: must be a JSON object'],
      ] as const)
        expect(await fixture.api.post(path, body)).toMatchObject(
          coded(400, 'invalid_payload', words),
        )
    }
  })
})

describe('a token ends', () => {
  test('at the millisecond that it was told to, with a code of its own', async () => {
    await using fixture = await bootGate({ start: '2026-03-01T12:00:30.123Z' })
    const token = await mint(fixture, { ttl_seconds: 1 })

    fixture.clock.jump(999)
    expect(await isActive(fixture, token)).toBe(true)
    fixture.clock.jump(1)
    expect(await introspect(fixture, token)).toMatchObject(
      coded(400, 'invalid_token', 'access_token: has expired'),
    )
  })

  test('after a day at the most', async () => {
    await using fixture = await bootGate()
    const token = await mint(fixture, { ttl_seconds: 86_400 })
    fixture.clock.jump(DAY - 1)
    expect(await isActive(fixture, token)).toBe(true)
    fixture.clock.jump(1)
    expect(await introspect(fixture, token)).toMatchObject({ status: 400 })
  })

  test('and is unknown once it has been cleared away', async () => {
    await using fixture = await bootGate()
    const token = await mint(fixture)
    fixture.clock.jump(HOUR + DAY + 1)
    await fixture.app.platform.retention.sweep()
    expect(await toldOf(fixture, token)).toEqual(INACTIVE)
  })

  test('for others without a word of it', async () => {
    await using fixture = await bootGate()
    const other = await bootParty(fixture.app)
    const token = await mint(fixture)
    fixture.clock.jump(2 * HOUR)
    expect(await toldOf(other, token)).toEqual(INACTIVE)
  })
})

describe('of what is not one of theirs nobody is told more than of what never was:', () => {
  test('an unknown token', async () => {
    await using fixture = await bootGate()
    expect(await toldOf(fixture, UNKNOWN)).toEqual(INACTIVE)
  })

  test('a token of another tenant', async () => {
    await using fixture = await bootGate()
    const other = await bootParty(fixture.app)
    const token = await mint(fixture)
    expect(await toldOf(other, token)).toEqual(INACTIVE)
    expect(await isActive(fixture, token)).toBe(true)
  })

  test('a token of the other environment', async () => {
    await using fixture = await bootGate()
    const inTest = await withKey(fixture, 'test')
    const [live, sandbox] = [await mint(fixture), await mint(inTest)]
    expect(await toldOf(inTest, live)).toEqual(INACTIVE)
    expect(await toldOf(fixture, sandbox)).toEqual(INACTIVE)
    expect(await isActive(fixture, live)).toBe(true)
    expect(await isActive(inTest, sandbox)).toBe(true)
  })

  test('a token by the name of the other environment', async () => {
    await using fixture = await bootGate()
    const token = await mint(fixture)
    expect(await toldOf(fixture, token.replace('_live_', '_test_'))).toEqual(INACTIVE)
  })
})

describe('a revoked token', () => {
  test('is dead at once, and can be revoked again', async () => {
    await using fixture = await bootGate()
    const token = await mint(fixture)

    const first = await revoke(fixture, token)
    expect(first.status).toBe(204)
    expect(first.body).toBe('')
    expect(await toldOf(fixture, token)).toEqual(INACTIVE)

    expect(await revoke(fixture, token)).toMatchObject({ status: 204 })
    expect(await toldOf(fixture, token)).toEqual(INACTIVE)
    expect(count(fixture.app, `audit_log where action = 'access_token.revoked'`)).toBe(1)
  })

  test('leaves the others alive', async () => {
    await using fixture = await bootGate()
    const [one, other] = [await mint(fixture), await mint(fixture)]
    await revoke(fixture, one)
    expect(await isActive(fixture, other)).toBe(true)
  })

  test('stays dead when its time is over: no word of its end', async () => {
    await using fixture = await bootGate()
    const token = await mint(fixture)
    await revoke(fixture, token)
    fixture.clock.jump(2 * HOUR)
    expect(await toldOf(fixture, token)).toEqual(INACTIVE)
  })

  test('is dead for a second process at once', async () => {
    await using fixture = await bootGate()
    await using beside = await bootBeside(fixture)
    const token = await mint(fixture)
    const there = (action: string) =>
      beside.app.handle(
        new Request(`http://localhost${TOKENS}/${action}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ access_token: token }),
        }),
      )
    expect(await (await there('introspect')).json()).toMatchObject({ active: true })

    await revoke(fixture, token)

    expect(await (await there('introspect')).json()).toEqual(INACTIVE)
  })
})

describe('a revocation answers 204 and changes nothing', () => {
  test('of what is unknown', async () => {
    await using fixture = await bootGate()
    expect(await revoke(fixture, UNKNOWN)).toMatchObject({ status: 204 })
    expect(count(fixture.app, `audit_log where action = 'access_token.revoked'`)).toBe(0)
  })

  test('of what has expired', async () => {
    await using fixture = await bootGate()
    const token = await mint(fixture)
    fixture.clock.jump(2 * HOUR)
    expect(await revoke(fixture, token)).toMatchObject({ status: 204 })
  })

  test('of what is another tenant’s or of the other environment', async () => {
    await using fixture = await bootGate()
    const token = await mint(fixture)
    for (const by of [await bootParty(fixture.app), await withKey(fixture, 'test')])
      expect(await revoke(by, token)).toMatchObject({ status: 204 })
    expect(await isActive(fixture, token)).toBe(true)
  })
})

describe('a token dies with its key', () => {
  test('when that is revoked, and for good', async () => {
    await using fixture = await bootGate()
    const second = await withKey(fixture, 'live')
    const [dying, living] = [await mint(second), await mint(fixture)]

    await fixture.app.platform.keys.revoke(ACTOR, second.id)

    expect(await toldOf(fixture, dying)).toEqual(INACTIVE)
    expect(await isActive(fixture, living)).toBe(true)
  })

  test('so, too, when that was rotated and its grace is over', async () => {
    await using fixture = await bootGate()
    const old = await withKey(fixture, 'live')
    const token = await mint(old, { ttl_seconds: 86_400 })
    const { key } = await fixture.app.platform.keys.rotate(ACTOR, old.id, HOUR)
    const successor = { api: fixture.app.client(key) }
    expect(await isActive(old, token)).toBe(true)

    fixture.clock.jump(HOUR)

    expect(await introspect(old, token)).toMatchObject({ status: 401 })
    expect(await toldOf(successor, token)).toEqual(INACTIVE)
  })

  test('at once when it was rotated without grace, as after a leak', async () => {
    await using fixture = await bootGate()
    const leaked = await withKey(fixture, 'live')
    const token = await mint(leaked)

    await fixture.app.platform.keys.rotate(ACTOR, leaked.id, 0)

    expect(await toldOf(fixture, token)).toEqual(INACTIVE)
  })
})

describe('a token of one of the people', () => {
  test('dies when they are deactivated, and stays dead when they are back', async () => {
    await using fixture = await bootGate()
    const person = await fixture.createIdentity()
    const token = await mint(fixture, { subject: person.id })
    expect(await isActive(fixture, token)).toBe(true)

    await fixture.setState(person, 'inactive')
    expect(await toldOf(fixture, token)).toEqual(INACTIVE)
    await fixture.setState(person, 'active')
    expect(await toldOf(fixture, token)).toEqual(INACTIVE)

    expect(await isActive(fixture, await mint(fixture, { subject: person.id }))).toBe(true)
  })

  test('dies whichever way they are deactivated', async () => {
    await using fixture = await bootGate()
    const person = await fixture.createIdentity()
    const token = await mint(fixture, { subject: person.id })
    await fixture.patch(person, [{ op: 'replace', path: '/state', value: 'inactive' }])
    expect(await toldOf(fixture, token)).toEqual(INACTIVE)
  })

  test('lives on when something else of them changes, or they stay what they are', async () => {
    await using fixture = await bootGate()
    const person = await fixture.createIdentity()
    const token = await mint(fixture, { subject: person.id })
    await fixture.setState(person, 'active')
    await fixture.patch(person, [
      { op: 'replace', path: '/traits/email', value: 'new@example.com' },
    ])
    expect(await isActive(fixture, token)).toBe(true)
  })

  test('dies with them, and is nothing to the next of that address', async () => {
    await using fixture = await bootGate()
    const traits = { email: 'ada@example.com' }
    const person = await fixture.createIdentity({ traits })
    const token = await mint(fixture, { subject: person.id })

    await fixture.api.delete(`/v1/gate/identities/${person.id}`)
    expect(await toldOf(fixture, token)).toEqual(INACTIVE)

    const next = await fixture.createIdentity({ traits })
    expect(await toldOf(fixture, token)).toEqual(INACTIVE)
    expect(await isActive(fixture, await mint(fixture, { subject: next.id }))).toBe(true)
    expect(count(fixture.app, `gate_access_tokens where subject = '${person.id}'`)).toBe(0)
  })

  test('dies before what is left of it has been cleared away', async () => {
    await using fixture = await bootGate()
    const person = await fixture.createIdentity()
    const token = await mint(fixture, { subject: person.id })
    fixture.app.db.client.run('delete from gate_identities where id = ?', [person.id])
    expect(count(fixture.app, 'gate_access_tokens')).toBe(1)
    expect(await toldOf(fixture, token)).toEqual(INACTIVE)
  })

  test('dies for nobody else', async () => {
    await using fixture = await bootGate()
    const person = await fixture.createIdentity()
    const other = await fixture.createIdentity()
    const [service, theirs] = [await mint(fixture), await mint(fixture, { subject: other.id })]

    await fixture.setState(person, 'inactive')
    await fixture.api.delete(`/v1/gate/identities/${person.id}`)

    expect(await isActive(fixture, service)).toBe(true)
    expect(await isActive(fixture, theirs)).toBe(true)
  })
})
