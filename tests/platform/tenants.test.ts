import { expect, test } from 'bun:test'
import { bootTestApp } from '../support/app.ts'

const CLI = { kind: 'cli' } as const

test('a tenant is created active, with its plan, and read back', async () => {
  await using app = await bootTestApp()
  const { tenants } = app.platform

  const created = await tenants.create(CLI, { name: '  Acme  ', plan: 'metered' })

  expect(created).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'Acme',
    plan: 'metered',
    status: 'active',
    spend_cap_cents: null,
    created_at: '2026-03-01T12:00:30.000Z',
    updated_at: '2026-03-01T12:00:30.000Z',
  })
  expect(tenants.find(created.id)).toEqual(created)
  expect(tenants.list()).toEqual([created])
})

test('suspension says why, and ends with resume', async () => {
  await using app = await bootTestApp()
  const { tenants } = app.platform
  const { id } = await tenants.create(CLI, { name: 'Acme', plan: 'free' })

  expect((await tenants.suspend(CLI, id, 'billing')).status).toBe('suspended')
  expect((await tenants.suspend(CLI, id, 'renewal')).status).toBe('renewal_unpaid')
  expect((await tenants.resume(CLI, id)).status).toBe('active')
})

test('only what is named changes; a cap of null is the default cap', async () => {
  await using app = await bootTestApp()
  const { tenants } = app.platform
  const { id } = await tenants.create(CLI, { name: 'Acme', plan: 'free' })

  const capped = await tenants.change(CLI, id, { spendCapCents: 0 })
  expect(capped).toMatchObject({ name: 'Acme', plan: 'free', spend_cap_cents: 0 })
  const uncapped = await tenants.change(CLI, id, { name: 'New', spendCapCents: null })
  expect(uncapped).toMatchObject({ name: 'New', plan: 'free', spend_cap_cents: null })
})

test('names that are no one line, and move the cursor of who lists them, are refused', async () => {
  await using app = await bootTestApp()
  const { tenants } = app.platform
  for (const name of ['a\nb', 'a\u0000', '\u001b[2Ja', 'a\u009b1m', 'a\u2028b', 'a\u202eb'])
    await expect(tenants.create(CLI, { name, plan: 'free' })).rejects.toThrow(
      'name: must be one line without control characters',
    )
  expect(await tenants.create(CLI, { name: 'Ünïcode ☃', plan: 'free' })).toMatchObject({
    name: 'Ünïcode ☃',
  })
})

test('empty and endless names, broken caps and unknown ids are refused', async () => {
  await using app = await bootTestApp()
  const { tenants } = app.platform
  const { id } = await tenants.create(CLI, { name: 'Acme', plan: 'free' })

  await expect(tenants.create(CLI, { name: ' ', plan: 'free' })).rejects.toThrow('name: must have')
  await expect(tenants.create(CLI, { name: 'x'.repeat(201), plan: 'free' })).rejects.toThrow(
    'at most 200',
  )
  for (const spendCapCents of [-1, 1.5, Number.NaN])
    await expect(tenants.change(CLI, id, { spendCapCents })).rejects.toThrow(
      'must be a whole number of cents',
    )
  expect(() => tenants.find('nobody')).toThrow('tenant not found')
  await expect(tenants.resume(CLI, 'nobody')).rejects.toThrow('tenant not found')
  expect(tenants.list()).toHaveLength(1)
})
