import { expect, test } from 'bun:test'
import { useApp } from '../support/app.ts'

const CLI = { kind: 'cli' } as const
const { platform, db } = await useApp()
const { tenants } = platform
const newTenant = () => tenants.create(CLI, { name: 'Acme', plan: 'free' })

test('A tenant is created active with its plan, and found again', async () => {
  const created = await tenants.create(CLI, { name: '  Acme  ', plan: 'metered' })
  const [id, at] = [expect.stringMatching(/^[0-9a-f-]{36}$/), '2026-03-01T12:00:30.000Z']
  const state = { plan: 'metered', status: 'active', spend_cap_cents: null }
  expect(created).toEqual({ id, name: 'Acme', ...state, created_at: at, updated_at: at } as never)
  expect(tenants.find(created.id)).toEqual(created)
  expect(tenants.list()).toContainEqual(created)
})

test('A suspension has a reason and ends with resume', async () => {
  const { id } = await newTenant()
  expect((await tenants.suspend(CLI, id, 'billing')).status).toBe('suspended')
  expect((await tenants.suspend(CLI, id, 'renewal')).status).toBe('renewal_unpaid')
  expect((await tenants.resume(CLI, id)).status).toBe('active')
})

test('A change keeps everything that it does not name; a cap of null is the default cap', async () => {
  const { id } = await newTenant()
  const capped = await tenants.change(CLI, id, { spendCapCents: 0 })
  expect(capped).toMatchObject({ name: 'Acme', plan: 'free', spend_cap_cents: 0 })
  const uncapped = await tenants.change(CLI, id, { name: 'New', spendCapCents: null })
  expect(uncapped).toMatchObject({ name: 'New', plan: 'free', spend_cap_cents: null })
})

test('A name is one visible line of up to 200 characters', async () => {
  const hostile = ['a\nb', 'a\u0000', '\u001b[2Ja', 'a\u009b1m', 'a\u2028b', 'a\u202eb']
  for (const name of [' ', 'x'.repeat(201), ...hostile])
    await expect(tenants.create(CLI, { name, plan: 'free' })).rejects.toThrow('name: ')
  for (const name of ['Ünïcode ☃', 'x'.repeat(200)])
    expect(await tenants.create(CLI, { name, plan: 'free' })).toMatchObject({ name })
})

test('Invalid caps and unknown ids are refused, without an audit row', async () => {
  const { id } = await newTenant()
  const audited = () => db.client.query('SELECT 1 FROM audit_log').all().length
  const before = audited()
  for (const spendCapCents of [-1, 1.5, Number.NaN])
    await expect(tenants.change(CLI, id, { spendCapCents })).rejects.toThrow('must be')
  expect(() => tenants.find('none')).toThrow('tenant not found')
  await expect(tenants.resume(CLI, 'none')).rejects.toMatchObject({ kind: 'not_found' })
  await expect(tenants.suspend(CLI, 'none', 'billing')).rejects.toMatchObject({ kind: 'not_found' })
  expect(audited()).toBe(before)
})
