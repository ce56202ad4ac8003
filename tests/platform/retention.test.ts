import { expect, mock, test } from 'bun:test'
import { SLICE } from '../../src/platform/retention.ts'
import { useApp } from '../support/app.ts'

const CLI = { kind: 'cli' } as const
const DAY_MS = 86_400_000

const app = await useApp({ flags: { 'retention-audit': '30d' } })
const { retention } = app.platform

test('Every kind of data that grows has a rule', async () => {
  // A rule that can't delete logs its name.
  app.db.client.run('PRAGMA query_only = on')
  await retention.sweep()
  app.db.client.run('PRAGMA query_only = off')
  const failed = app.log
    .map((line) => JSON.parse(line))
    .filter(({ message }) => message === 'retention failed')
    .map(({ rule }) => rule)
  const rules = `alerts, audit log, backups, clockwork delayed jobs, clockwork executions, clockwork hours,
    clockwork skipped slots, console links, copies of login tokens, deleted endpoints, deleted tenants,
    endpoint counters, gate access tokens, gate decisions, gate erasures, gate flows, gate sessions, gate sign-ins,
    gate test sign-ins, ids of deleted identities, login attempts, login tokens, mails, messages, messenger updates,
    monitor transitions, notices,
    relay event types, relay idempotency keys, test requests, unsent mails, usage by day, usage by month`
  expect(failed.toSorted()).toEqual(rules.split(/,\s+/))
})

test('A rule deletes in slices until nothing is left, once a minute', async () => {
  const slices: number[] = []
  let rows = SLICE * 2 + 7
  const deleteSlice = (_: number, limit: number) => {
    const deleted = Math.min(rows, limit)
    rows -= deleted
    slices.push(deleted)
    return deleted
  }
  retention.add({ name: 'test', deleteSlice })
  await app.clock.advance(60_000)
  while (rows > 0) {
    await app.clock.advance(20)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(slices).toEqual([SLICE, SLICE, 7])
})

test('A rule that fails is logged, and the others go on', async () => {
  const broken = () => {
    throw new Error('no such table')
  }
  const well = mock(() => 0)
  retention.add({ name: 'broken', deleteSlice: broken }, { name: 'well', deleteSlice: well })
  await retention.sweep()
  expect(well).toHaveBeenCalled()
  expect(app.log.join()).toContain('no such table')
})

test('Audit rows are deleted after the configured time', async () => {
  const count = () =>
    app.db.client.query("SELECT 1 FROM audit_log WHERE action = 'tenant.created'").all().length
  await app.platform.tenants.create(CLI, { name: 'Old', plan: 'free' })
  app.clock.jump(20 * DAY_MS)
  await app.platform.tenants.create(CLI, { name: 'New', plan: 'free' })
  await retention.sweep()
  expect(count()).toBe(2)
  app.clock.jump(10 * DAY_MS + 1)
  await retention.sweep()
  expect(count()).toBe(1)
})
