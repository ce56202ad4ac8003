import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { checkDigits, randomBase62, sha256 } from '../../src/platform/crypto.ts'
import type { Engine } from '../../src/platform/engines.ts'
import { endOfDay } from '../../src/platform/keys/expiry.ts'
import { random } from '../../src/platform/random.ts'
import { createReadCache } from '../../src/platform/read-cache.ts'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { useApp } from '../support/app.ts'

const CLI = { kind: 'cli', source: 'ada@host' } as const
const DAY = 86_400_000
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

const app = await useApp()
const { keys, tenants } = app.platform
const rowsOf = (sql: string, ...values: string[]) =>
  app.db.client.query<Record<string, string>, string[]>(sql).all(...values)

test.each<[Engine, RegExp]>([
  ['gate', /^svc_gate_live_sk_[0-9A-Za-z]{43}$/],
  ['passepartout', /^svc_passepartout_live_sk_[0-9A-Za-z]{43}$/],
  ['relay', /^svc_relay_live_sk_[0-9A-Za-z]{43}$/],
  ['clockwork', /^svc_clockwork_[0-9A-Za-z]{43}$/],
])(
  'A new key of %s has its form, ends with check digits and is not stored',
  async (engine, form) => {
    const { key } = await (await app.tenant()).key(engine)
    expect(key).toMatch(form)
    const secret = key.slice(-43)
    expect(secret.slice(37)).toBe(checkDigits(secret.slice(0, 37)))
    const stored = JSON.stringify(rowsOf('SELECT * FROM api_keys'))
    for (const text of [stored, JSON.stringify(keys.list())]) expect(text).not.toContain(secret)
    expect(stored).toContain(`${secret.slice(0, 4)}…${key.slice(-4)}`)
  },
)

test('A new key stands for tenant, engine, environment and scopes, and is refused if one is invalid', async () => {
  const { id: tenantId, key } = await app.tenant()
  const issued = await key('relay', 'test')
  expect(keys.verify(issued.key)).toEqual({
    ...{ keyId: issued.id, tenantId, tenantStatus: 'active', plan: 'unlimited' },
    ...{ spendCapCents: null, engines: ['relay'], environment: 'test' },
    scopes: new Set(['relay:send', 'relay:read', 'relay:endpoints']),
  })
  const { scopes } = await key('gate', 'live', ['authorize', 'orders:read', 'authorize'])
  expect(scopes).toEqual(['authorize', 'orders:read'])

  const unknown = keys.issue(CLI, { tenantId: 'none', engines: ['gate'] })
  await expect(unknown).rejects.toMatchObject({ kind: 'not_found' })
  const many = Array.from({ length: 101 }, (_, n) => `orders:${n}`)
  for (const scopes of [[], ['Has Space'], [''], many])
    await expect(key('gate', 'live', scopes)).rejects.toMatchObject({ field: 'scopes' })
  await expect(key('clockwork', 'live')).rejects.toMatchObject({ field: 'environment' })
})

test('A key of the installation belongs to no tenant, and no tenant can have or see one', async () => {
  const issued = await keys.issueForInstallation(CLI, { name: 'Ansible' })
  expect(issued.key).toMatch(/^svc_installation_[0-9A-Za-z]{43}$/)
  const scopes = ['installation:read', 'installation:write']
  expect(issued).toMatchObject({ engines: ['installation'], environment: null, scopes })
  expect(keys.find(null, issued.id)).toMatchObject({ tenant_id: null, name: 'Ansible' })
  const { id: tenantId, key } = await app.tenant()
  const own = await key('relay')
  const ids = (of: string | null) => keys.newest(of, 100).map(({ id }) => id)
  expect([ids(null).includes(own.id), ids(tenantId).includes(issued.id)]).toEqual([false, false])
  for (const [of, id] of [
    [tenantId, issued.id],
    [null, own.id],
  ] as const)
    expect(() => keys.find(of, id)).toThrow('key not found')
  const engines = ['installation'] as unknown as Engine[]
  const wrong = { kind: 'invalid', field: 'engines' }
  await expect(keys.issue(CLI, { tenantId, engines })).rejects.toMatchObject(wrong)
  const foreign = keys.issue(CLI, { tenantId: SYSTEM_TENANT_ID, engines: ['gate'] })
  await expect(foreign).rejects.toMatchObject({ kind: 'not_found' })
  const renewed = await keys.rotate(CLI, issued.id, 0)
  expect(renewed).toMatchObject({ engines: ['installation'], name: 'Ansible', scopes })
  expect([keys.verify(issued.key), keys.verify(renewed.key)?.engines]).toEqual([
    undefined,
    ['installation'],
  ])
})

test('A key of several engines names none of them; clockwork makes it a live one', async () => {
  const { key } = await app.tenant()
  const live = await key(['relay', 'clockwork'])
  expect(live.key).toMatch(/^svc_live_sk_[0-9A-Za-z]{43}$/)
  expect(keys.verify(live.key)).toMatchObject({
    engines: ['clockwork', 'relay'],
    environment: 'live',
    scopes: new Set(['clockwork', 'relay:send', 'relay:read', 'relay:endpoints']),
  })
  const test = await key(['gate', 'relay'], 'test', ['flows', 'relay:send'])
  expect(test.key).toMatch(/^svc_test_sk_/)
  for (const [engines, environment, scopes, field] of [
    [[], undefined, undefined, 'engines'],
    [['gate', 'clockwork'], 'test', undefined, 'environment'],
    [['gate', 'relay'], 'live', ['relay:send'], 'scopes'],
  ] as const)
    await expect(key([...engines], environment, scopes && [...scopes])).rejects.toMatchObject({
      field,
    })
})

test('An expired key is refused for that reason; an unknown one is never known', async () => {
  const { id: tenantId } = await app.tenant()
  const expiry = { at: app.clock.now() + DAY }
  const issued = await keys.issue(CLI, { tenantId, engines: ['relay'], expiry })
  app.clock.jump(DAY - 1)
  expect(keys.verify(issued.key)?.keyId).toBe(issued.id)
  expect(keys.endOf(issued.key)).toBeUndefined()
  expect(keys.expiring(tenantId, 9).map(({ id }) => id)).toEqual([issued.id])
  app.clock.jump(1)
  expect(keys.verify(issued.key)).toBeUndefined()
  expect(keys.endOf(issued.key)).toBe('expired')
  expect(keys.expiring(tenantId, 9)).toEqual([])
  await expect(keys.change(CLI, issued.id, { expiry: null })).rejects.toMatchObject({
    kind: 'conflict',
  })
  await keys.revoke(CLI, issued.id)
  expect(keys.endOf(issued.key)).toBe('revoked')
  expect(keys.endOf(`svc_relay_live_sk_${'A'.repeat(37)}${checkDigits('A'.repeat(37))}`)).toBe(
    undefined,
  )
  for (const at of [app.clock.now(), Number.MAX_SAFE_INTEGER, Number.NaN])
    await expect(
      keys.issue(CLI, { tenantId, engines: ['relay'], expiry: { at } }),
    ).rejects.toMatchObject({ field: 'expires' })
  for (const date of ['soon', '2026-02-30', '2026-13-01'])
    expect(() => endOfDay(date)).toThrow('must be a date such as')
})

test('Rotation keeps name, note and engines, renews a lifetime, and keeps a fixed end', async () => {
  const { id: tenantId } = await app.tenant()
  const engines = ['gate', 'relay'] as const
  const details = { tenantId, engines, name: 'Shop', note: 'Owner: Ada' }
  const lifetime = await keys.issue(CLI, { ...details, expiry: { afterMs: 30 * DAY } })
  const fixed = await keys.issue(CLI, { ...details, expiry: { at: app.clock.now() + 30 * DAY } })
  app.clock.jump(29 * DAY)
  const end = app.clock.now() + DAY
  const renewed = await keys.rotate(CLI, lifetime.id, 7 * DAY)
  const kept = await keys.rotate(CLI, fixed.id, DAY / 2)
  const iso = (ms: number) => new Date(ms).toISOString()
  expect(keys.find(tenantId, renewed.id)).toMatchObject({
    ...{ engines: [...engines], name: 'Shop', note: 'Owner: Ada' },
    ...{ expires_at: iso(app.clock.now() + 30 * DAY), lifetime_ms: 30 * DAY },
    created_by: { kind: 'cli', id: null },
  })
  expect(keys.find(tenantId, kept.id)).toMatchObject({ expires_at: iso(end), lifetime_ms: null })
  // A grace period never makes a key last longer.
  expect(keys.find(tenantId, lifetime.id).expires_at).toBe(iso(end))
  expect(keys.find(tenantId, fixed.id).expires_at).toBe(iso(end - DAY / 2))
  await expect(keys.change(CLI, fixed.id, { expiry: null })).rejects.toThrow('rotated')
  expect(await keys.change(CLI, fixed.id, { name: '' })).toMatchObject({ name: null })
})

test('A name is a short line, a note a short text; a change is audited with what changed', async () => {
  const { id: tenantId, key } = await app.tenant()
  const { id } = await key('relay')
  for (const change of [
    { name: 'a\nb' },
    { name: 'a\u202eb' },
    { name: 'x'.repeat(101) },
    { note: 'x'.repeat(501) },
    { note: 'a\u0000' },
  ])
    await expect(keys.change(CLI, id, change)).rejects.toMatchObject({
      field: Object.keys(change)[0],
    })
  await keys.change(CLI, id, { name: ' Shop ', note: 'a\r\nb' })
  await keys.change(CLI, id, { name: 'Shop' })
  const changes = "SELECT detail FROM audit_log WHERE tenant_id = ? AND action = 'key.changed'"
  expect(rowsOf(changes, tenantId)).toEqual([{ detail: '{"name":"Shop","note":"a\\nb"}' }])
})

test('An invalid key is refused, a mistyped one by its check digits without a lookup', async () => {
  const { secret } = await app.tenant()
  const unknown = 'A'.repeat(37)
  expect(keys.verify(secret)).toBeDefined()
  for (const key of [
    secret.slice(0, -10) + (secret.at(-10) === 'a' ? 'b' : 'a') + secret.slice(-9),
    `svc_clockwork_${unknown}${checkDigits(unknown)}`,
    secret.replace('svc_', 'abc_'),
    secret.replace('clockwork', 'gate_live_sk'),
    `${secret} `,
    '',
    'é'.repeat(100_000),
  ])
    expect(keys.verify(key), key.slice(0, 80)).toBeUndefined()
  app.db.client.run('ALTER TABLE api_keys RENAME TO hidden')
  const reversed = secret.slice(0, -6) + [...secret.slice(-6)].reverse().join('')
  const results = [`${secret.slice(0, -1)}!`, reversed].map(keys.verify)
  app.db.client.run('ALTER TABLE hidden RENAME TO api_keys')
  expect(results).toEqual([undefined, undefined])
})

test('A rotation makes a key with the same rights; the old one works for the grace period', async () => {
  const acme = await app.tenant()
  const old = await acme.key('relay', 'test', ['relay:send'])
  const fresh = await keys.rotate(CLI, old.id, 60_000)
  expect(fresh).toMatchObject({ engines: ['relay'], environment: 'test', scopes: ['relay:send'] })
  expect(fresh.key).not.toBe(old.key)
  await app.clock.advance(59_999)
  expect(keys.verify(old.key)?.keyId).toBe(old.id)
  await app.clock.advance(1)
  expect(keys.verify(old.key)).toBeUndefined()
  expect(keys.verify(fresh.key)?.keyId).toBe(fresh.id)

  const [revoked, rotated, expired] = [await acme.key(), await acme.key(), await acme.key()]
  const first = await keys.revoke(CLI, revoked.id)
  const successor = await keys.rotate(CLI, rotated.id, 60_000)
  await keys.rotate(CLI, expired.id, 0)
  for (const { key } of [revoked, expired]) expect(keys.verify(key)).toBeUndefined()
  for (const [id, message] of [
    [revoked.id, 'the key is revoked or expired'],
    [rotated.id, `the key has already been rotated, to ${successor.id}`],
    [expired.id, 'the key is revoked or expired'],
    ['nothing', 'key not found'],
  ] as const)
    await expect(keys.rotate(CLI, id, 0)).rejects.toThrow(message)
  // A second revocation changes nothing.
  expect(await keys.revoke(CLI, revoked.id)).toEqual(first)
  const audited = "SELECT 1 FROM audit_log WHERE action = 'key.revoked' AND object = ?"
  expect(rowsOf(audited, `key:${revoked.id}`)).toHaveLength(1)
})

test('A change of a key or its tenant by another process takes effect at once', async () => {
  const { id, secret } = await app.tenant()
  await tenants.suspend(CLI, id, 'billing')
  expect(keys.verify(secret)?.tenantStatus).toBe('suspended')
  using elsewhere = new Database(app.db.file)
  elsewhere.query("UPDATE tenants SET status = 'renewal_unpaid' WHERE id = ?").run(id)
  await nextTurn()
  expect(keys.verify(secret)?.tenantStatus).toBe('renewal_unpaid')
  elsewhere.query('UPDATE api_keys SET revoked_at = 1 WHERE tenant_id = ?').run(id)
  await nextTurn()
  expect(keys.verify(secret)).toBeUndefined()
})

test('A cached value stays after own commits, until it is forgotten or there is no room', async () => {
  const cache = createReadCache<number>(app.db, 3)
  cache.set('a', 1)
  await app.tenant()
  expect(cache.get('a')).toBe(1)
  cache.forget()
  expect(cache.get('a')).toBeUndefined()
  const names = Array.from({ length: 20 }, (_, n) => `${n}`)
  for (const name of names) cache.set(name, 1)
  const held = names.filter((name) => cache.get(name) !== undefined)
  expect(held.length).toBeLessThanOrEqual(3)
  expect(held).toContain('19')
})

test('The last use is stored at most once a minute', async () => {
  const { id, api } = await app.tenant()
  const lastUse = () => keys.list(id)[0]?.last_used_at
  const use = async () => {
    await api.get('/v1/clockwork/jobs')
    await app.db.drain()
    return lastUse()
  }
  const now = () => new Date(app.clock.now()).toISOString()
  expect(lastUse()).toBeNull()
  const first = now()
  expect(await use()).toBe(first)
  await app.clock.advance(30_000)
  expect(await use()).toBe(first)
  await app.clock.advance(30_000)
  expect(await use()).toBe(now())
})

test('Every change of a key or tenant is audited with actor and object, and without secret', async () => {
  const { id } = await tenants.create(CLI, { name: 'Acme', plan: 'free' })
  const key = await keys.issue(CLI, { tenantId: id, engines: ['clockwork'] })
  const fresh = await keys.rotate(CLI, key.id, 1000)
  await keys.revoke(CLI, fresh.id)
  await tenants.change(CLI, id, { plan: 'metered', spendCapCents: 500 })
  await tenants.suspend(CLI, id, 'billing')
  await tenants.resume(CLI, id)
  const rows = rowsOf('SELECT * FROM audit_log WHERE tenant_id = ? ORDER BY seq', id)
  const changes = ['changed', 'suspended', 'resumed'].map((verb) => [
    `tenant.${verb}`,
    `tenant:${id}`,
  ])
  expect(rows.map(({ action, object }) => [action, object])).toEqual([
    ['tenant.created', `tenant:${id}`],
    ['key.created', `key:${key.id}`],
    ['key.rotated', `key:${key.id}`],
    ['key.revoked', `key:${fresh.id}`],
    ...changes,
  ])
  for (const row of rows) expect(row).toMatchObject({ actor_kind: 'cli', source: 'ada@host' })
  expect(JSON.stringify(rows)).not.toContain(key.key.slice(-43))
})

const newTenant = () => tenants.create(CLI, { name: 'Acme', plan: 'free' })

test('A tenant is created active with its plan, and found again', async () => {
  const created = await tenants.create(CLI, { name: '  Acme  ', plan: 'metered' })
  const id = expect.stringMatching(/^[0-9a-f-]{36}$/)
  const at = new Date(app.clock.now()).toISOString()
  const state = { plan: 'metered', status: 'active', spend_cap_cents: null, time_zone: 'UTC' }
  expect(created).toEqual({ id, name: 'Acme', ...state, created_at: at, updated_at: at } as never)
  expect(tenants.find(created.id)).toEqual(created)
  expect(tenants.list()).toContainEqual(created)
})

test('A change keeps everything that it does not name, and a suspension has a reason', async () => {
  const { id } = await newTenant()
  expect((await tenants.suspend(CLI, id, 'billing')).status).toBe('suspended')
  expect((await tenants.suspend(CLI, id, 'renewal')).status).toBe('renewal_unpaid')
  expect((await tenants.resume(CLI, id)).status).toBe('active')
  const capped = await tenants.change(CLI, id, { spendCapCents: 0 })
  expect(capped).toMatchObject({ name: 'Acme', plan: 'free', spend_cap_cents: 0 })
  const uncapped = await tenants.change(CLI, id, { name: 'New', spendCapCents: null })
  expect(uncapped).toMatchObject({ name: 'New', plan: 'free', spend_cap_cents: null })
})

test('A name is one visible line of up to 200 characters', async () => {
  const hostile = ['a\nb', 'a\u0000', '\u001b[2Ja', 'a\u009b1m', 'a\u2028b', 'a\u202eb', '\u200b']
  for (const name of [' ', 'x'.repeat(201), ...hostile])
    await expect(tenants.create(CLI, { name, plan: 'free' })).rejects.toThrow('name: ')
  for (const name of ['Ünïcode ☃', 'x'.repeat(200)])
    expect(await tenants.create(CLI, { name, plan: 'free' })).toMatchObject({ name })
})

test('Invalid caps and unknown ids are refused, without an audit row', async () => {
  const { id } = await newTenant()
  const audited = () => rowsOf('SELECT 1 FROM audit_log').length
  const before = audited()
  for (const spendCapCents of [-1, 1.5, Number.NaN])
    await expect(tenants.change(CLI, id, { spendCapCents })).rejects.toThrow('must be')
  expect(() => tenants.find('none')).toThrow('tenant not found')
  await expect(tenants.resume(CLI, 'none')).rejects.toMatchObject({ kind: 'not_found' })
  await expect(tenants.suspend(CLI, 'none', 'billing')).rejects.toMatchObject({ kind: 'not_found' })
  expect(audited()).toBe(before)
})

const countsOf = (values: Iterable<string | number>) =>
  [...Map.groupBy(values, (value) => value).values()].map((group) => group.length)

test('SHA-256 agrees with its published vector; text and numbers are random without a bias', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  const text = randomBase62(62_000)
  expect(text).toMatch(/^[0-9A-Za-z]{62000}$/)
  const tenths = Array.from({ length: 10_000 }, () => Math.floor(random() * 10))
  for (const [values, count] of [[text, 62] as const, [tenths, 10] as const]) {
    const counts = countsOf(values)
    expect(counts).toHaveLength(count)
    // 1000 each, give or take at least six standard deviations.
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(200)
  }
})

test('Check digits are CRC-32 in six base62 digits and change with every character', () => {
  // The published check value, 0xcbf43926.
  expect(checkDigits('123456789')).toBe('3jZRME')
  expect(checkDigits('')).toBe('000000')
  const text = randomBase62(37)
  for (let at = 0; at < text.length; at++) {
    const changed = `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`
    expect(checkDigits(changed)).not.toBe(checkDigits(text))
  }
})
