import { expect, test } from 'bun:test'
import { SLICE } from '../../src/platform/retention.ts'
import { bootTestApp } from '../support/app.ts'

const CLI = { kind: 'cli' } as const

test('rules delete in slices until nothing is left, once a minute', async () => {
  await using app = await bootTestApp()
  const slices: number[] = []
  let rows = SLICE * 2 + 7
  app.platform.retention.add({
    name: 'test',
    deleteSlice: (_, limit) => {
      const deleted = Math.min(rows, limit)
      rows -= deleted
      slices.push(deleted)
      return deleted
    },
  })

  await app.clock.advance(60_000)
  while (rows > 0) {
    await app.clock.advance(20)
    await new Promise((resolve) => setImmediate(resolve))
  }

  expect(slices).toEqual([SLICE, SLICE, 7])
  expect(rows).toBe(0)
})

test('one rule that fails is logged and keeps no other from its work', async () => {
  await using app = await bootTestApp()
  let worked = false
  app.platform.retention.add(
    {
      name: 'broken',
      deleteSlice: () => {
        throw new Error('no such table')
      },
    },
    {
      name: 'well',
      deleteSlice: () => {
        worked = true
        return 0
      },
    },
  )

  await app.platform.retention.sweep()

  expect(worked).toBe(true)
  expect(app.log.join()).toContain('no such table')
})

test('audit rows go when they are older than the configured time, and not before', async () => {
  await using app = await bootTestApp({ flags: { 'retention-audit': '30d' } })
  const count = () =>
    app.db.client.query<{ n: number }, []>('SELECT count(*) AS n FROM audit_log').get()?.n
  await app.platform.tenants.create(CLI, { name: 'Old', plan: 'free' })
  app.clock.jump(20 * 86_400_000)
  await app.platform.tenants.create(CLI, { name: 'New', plan: 'free' })

  await app.platform.retention.sweep()
  expect(count()).toBe(2)
  app.clock.jump(10 * 86_400_000 + 1)
  await app.platform.retention.sweep()
  expect(count()).toBe(1)
})
