import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { checkDigits } from '../../src/platform/crypto.ts'
import { bootTestApp, type TestApp } from '../support/app.ts'

const CLI = { kind: 'cli', source: 'ada@host' } as const
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

const auditOf = ({ db }: TestApp) =>
  db.client
    .query<
      { action: string; object: string; actor_kind: string; source: string; detail: string },
      []
    >('SELECT action, object, actor_kind, source, detail FROM audit_log ORDER BY seq')
    .all()

describe('a new key', () => {
  test('has the form of its engine and check digits at its end', async () => {
    await using app = await bootTestApp()
    const acme = await app.tenant()
    const forms = {
      gate: /^svc_gate_live_sk_[0-9A-Za-z]{43}$/,
      passepartout: /^svc_passepartout_live_sk_[0-9A-Za-z]{43}$/,
      relay: /^svc_relay_live_sk_[0-9A-Za-z]{43}$/,
      clockwork: /^svc_clockwork_[0-9A-Za-z]{43}$/,
    } as const

    for (const [engine, form] of Object.entries(forms)) {
      const { key } = await acme.key(engine as keyof typeof forms)
      expect(key).toMatch(form)
      const secret = key.slice(-43)
      expect(secret.slice(37)).toBe(checkDigits(secret.slice(0, 37)))
    }
  })

  test('speaks for its tenant, engine, environment and all scopes of the engine', async () => {
    await using app = await bootTestApp()
    const acme = await app.tenant()
    const issued = await acme.key('relay', 'test')

    expect(app.platform.keys.verify(issued.key)).toEqual({
      keyId: issued.id,
      tenantId: acme.id,
      tenantStatus: 'active',
      plan: 'unlimited',
      spendCapCents: null,
      engine: 'relay',
      environment: 'test',
      scopes: new Set(['relay:send', 'relay:read', 'relay:endpoints']),
    })
  })

  test('takes scopes of the tenant’s own naming, once each', async () => {
    await using app = await bootTestApp()
    const acme = await app.tenant()

    const { scopes } = await acme.key('gate', 'live', ['authorize', 'orders:read', 'authorize'])

    expect(scopes).toEqual(['authorize', 'orders:read'])
  })

  test('is refused for an unknown tenant, an empty or malformed scope, and an environment of clockwork', async () => {
    await using app = await bootTestApp()
    const acme = await app.tenant()
    const { keys } = app.platform

    await expect(keys.issue(CLI, { tenantId: 'nobody', engine: 'gate' })).rejects.toThrow(
      'tenant not found',
    )
    await expect(acme.key('gate', 'live', [])).rejects.toThrow(
      'scopes: must name at least one scope',
    )
    await expect(acme.key('gate', 'live', ['Has Space'])).rejects.toThrow(
      'must be lowercase letters, digits and _ . : -, unlike "Has Space"',
    )
    await expect(acme.key('clockwork', 'live')).rejects.toThrow(
      'environment: must not be set: clockwork keys',
    )
  })

  test('is nowhere in the database: only its hash and a hint', async () => {
    await using app = await bootTestApp()
    const acme = await app.tenant()
    const { key } = await acme.key()
    const dump = app.db.client.query('SELECT * FROM api_keys').all()

    expect(JSON.stringify(dump)).not.toContain(key.slice(-43))
    expect(JSON.stringify(dump)).toContain(`${key.slice(-43, -39)}…${key.slice(-4)}`)
  })
})

test('malformed, mistyped, unknown and foreign-prefix keys are nobody’s', async () => {
  await using app = await bootTestApp()
  const { secret } = await app.tenant()
  const { verify } = app.platform.keys
  const swapped = secret.slice(0, -10) + (secret.at(-10) === 'a' ? 'b' : 'a') + secret.slice(-9)
  const unknown = 'A'.repeat(37)

  expect(verify(secret)).toBeDefined()
  expect(verify(swapped)).toBeUndefined()
  expect(verify(`svc_clockwork_${unknown}${checkDigits(unknown)}`)).toBeUndefined()
  expect(verify(secret.replace('svc_', 'abc_'))).toBeUndefined()
  expect(verify(secret.replace('clockwork', 'gate_live_sk'))).toBeUndefined()
  expect(verify(`${secret} `)).toBeUndefined()
  expect(verify('')).toBeUndefined()
  expect(verify('é'.repeat(100_000))).toBeUndefined()
})

test('a mistyped key is told by its check digits, without a look-up', async () => {
  await using app = await bootTestApp()
  const { secret } = await app.tenant()
  app.db.client.run('ALTER TABLE api_keys RENAME TO hidden')

  expect(app.platform.keys.verify(`${secret.slice(0, -1)}!`)).toBeUndefined()
  expect(
    app.platform.keys.verify(secret.slice(0, -6) + secret.slice(-6).split('').reverse().join('')),
  ).toBeUndefined()
  app.db.client.run('ALTER TABLE hidden RENAME TO api_keys')
})

describe('rotation', () => {
  test('makes a key with the same rights and lets the old one live for the grace period', async () => {
    await using app = await bootTestApp()
    const acme = await app.tenant()
    const { keys } = app.platform
    const old = await acme.key('relay', 'test', ['relay:send'])

    const fresh = await keys.rotate(CLI, old.id, 60_000)

    expect(fresh).toMatchObject({ engine: 'relay', environment: 'test', scopes: ['relay:send'] })
    expect(fresh.key).not.toBe(old.key)
    expect(keys.verify(old.key)?.keyId).toBe(old.id)
    await app.clock.advance(59_999)
    expect(keys.verify(old.key)?.keyId).toBe(old.id)
    await app.clock.advance(1)
    expect(keys.verify(old.key)).toBeUndefined()
    expect(keys.verify(fresh.key)?.keyId).toBe(fresh.id)
  })

  test('without grace ends the old key at once', async () => {
    await using app = await bootTestApp()
    const old = await (await app.tenant()).key()

    await app.platform.keys.rotate(CLI, old.id, 0)

    expect(app.platform.keys.verify(old.key)).toBeUndefined()
  })

  test('of a revoked, an expired, a rotated or an unknown key is refused', async () => {
    await using app = await bootTestApp()
    const acme = await app.tenant()
    const { keys } = app.platform
    const [revoked, rotated, expired] = [await acme.key(), await acme.key(), await acme.key()]
    await keys.revoke(CLI, revoked.id)
    const successor = await keys.rotate(CLI, rotated.id, 60_000)
    await keys.rotate(CLI, expired.id, 0)

    const ids = [revoked.id, rotated.id, expired.id, 'nothing']
    const refusals = await Promise.allSettled(ids.map((id) => keys.rotate(CLI, id, 0)))
    expect(refusals).toMatchObject([
      { reason: { message: 'the key is revoked or expired' } },
      { reason: { message: `the key has already been rotated, to ${successor.id}` } },
      { reason: { message: 'the key is revoked or expired' } },
      { reason: { message: 'key not found' } },
    ])
  })
})

test('a revoked key is refused at once; revoking again changes nothing', async () => {
  await using app = await bootTestApp()
  const key = await (await app.tenant()).key()
  const { keys } = app.platform

  const first = await keys.revoke(CLI, key.id)
  await app.clock.advance(1000)
  const second = await keys.revoke(CLI, key.id)

  expect(keys.verify(key.key)).toBeUndefined()
  expect(second).toEqual(first)
  expect(auditOf(app).filter(({ action }) => action === 'key.revoked')).toHaveLength(1)
})

test('what another process changes of a key or its tenant holds at once', async () => {
  await using app = await bootTestApp()
  const acme = await app.tenant()
  const { keys, tenants } = app.platform
  expect(keys.verify(acme.secret)?.tenantStatus).toBe('active')

  await tenants.suspend(CLI, acme.id, 'billing')
  expect(keys.verify(acme.secret)?.tenantStatus).toBe('suspended')

  const elsewhere = new Database(app.db.file)
  elsewhere.run("UPDATE tenants SET status = 'renewal_unpaid'")
  await nextTurn()
  expect(keys.verify(acme.secret)?.tenantStatus).toBe('renewal_unpaid')
  elsewhere.run('UPDATE api_keys SET revoked_at = 1')
  await nextTurn()
  expect(keys.verify(acme.secret)).toBeUndefined()
  elsewhere.close()
})

test('the last use is noted, at most once a minute', async () => {
  await using app = await bootTestApp()
  const acme = await app.tenant()
  const lastUse = () => app.platform.keys.list(acme.id)[0]?.last_used_at
  expect(lastUse()).toBeNull()

  await acme.api.get('/v1/clockwork/jobs')
  await app.db.drain()
  expect(lastUse()).toBe('2026-03-01T12:00:30.000Z')

  await app.clock.advance(30_000)
  await acme.api.get('/v1/clockwork/jobs')
  await app.db.drain()
  expect(lastUse()).toBe('2026-03-01T12:00:30.000Z')

  await app.clock.advance(30_000)
  await acme.api.get('/v1/clockwork/jobs')
  await app.db.drain()
  expect(lastUse()).toBe('2026-03-01T12:01:30.000Z')
})

test('lists show hints and states, never secrets, and only the tenant’s own', async () => {
  await using app = await bootTestApp()
  const acme = await app.tenant('Acme')
  const other = await app.tenant('Other')
  const list = app.platform.keys.list(acme.id)

  expect(list).toHaveLength(1)
  expect(list[0]).toMatchObject({
    tenant_id: acme.id,
    engine: 'clockwork',
    environment: null,
    revoked_at: null,
  })
  expect(JSON.stringify(list)).not.toContain(acme.secret.slice(-43))
  expect(app.platform.keys.list(other.id)).toHaveLength(1)
  expect(app.platform.keys.list()).toHaveLength(2)
})

test('every change of a key or tenant leaves an audit row with actor, object and no secret', async () => {
  await using app = await bootTestApp()
  const { tenants, keys } = app.platform
  const { id } = await tenants.create(CLI, { name: 'Acme', plan: 'free' })
  const key = await keys.issue(CLI, { tenantId: id, engine: 'clockwork' })
  const fresh = await keys.rotate(CLI, key.id, 1000)
  await keys.revoke(CLI, fresh.id)
  await tenants.change(CLI, id, { plan: 'metered', spendCapCents: 500 })
  await tenants.suspend(CLI, id, 'billing')
  await tenants.resume(CLI, id)

  expect(auditOf(app).map(({ action, object }) => `${action} ${object}`)).toEqual([
    `tenant.created tenant:${id}`,
    `key.created key:${key.id}`,
    `key.rotated key:${key.id}`,
    `key.revoked key:${fresh.id}`,
    `tenant.changed tenant:${id}`,
    `tenant.suspended tenant:${id}`,
    `tenant.resumed tenant:${id}`,
  ])
  for (const row of auditOf(app)) {
    expect(row).toMatchObject({ actor_kind: 'cli', source: 'ada@host' })
    expect(row.detail).not.toContain(key.key.slice(-43))
  }
})

test('a change that fails leaves no audit row', async () => {
  await using app = await bootTestApp()
  await app.platform.tenants.suspend(CLI, 'nobody', 'billing').catch(() => {})

  expect(auditOf(app)).toEqual([])
})
