import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInstallationAlerts } from '../../src/console/installation-alerts.ts'
import { issuesIn } from '../../src/console/instance-health.ts'
import type { BackupRow } from '../../src/platform/backup/index.ts'
import type { PairState } from '../../src/platform/replication/pair.ts'
import { useApp } from '../support/app.ts'
import { testConfig } from '../support/config.ts'
import { temporaryFolder } from '../support/folder.ts'

const app = await useApp()
const { alerts, db } = app.platform

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NOW = 100 * DAY

const open = () => alerts.page(null, 'open', { limit: 9 })

const row = (endedAt: number, error: string | null = null) => ({ endedAt, error }) as BackupRow
const backups = (last: BackupRow, newest = last) => ({
  backups: { ...testConfig().backup, enabled: true, last, made: [newest] },
})

type State = Parameters<typeof issuesIn>[0]

const HEALTHY: State = {
  now: NOW,
  startedAt: 0,
  freeBytes: 2 * 1024 ** 3,
  queues: [],
  processes: [],
  ...backups(row(NOW - HOUR)),
}

const queue = (name: State['queues'][number]['name'], minutes: number) => ({
  queues: [{ name, readyCount: 5, lagMs: minutes * MINUTE }],
})

const READY: PairState['standbys'][number] = {
  ...{ id: 'b', name: 'bergen', version: '1', isReady: true, lagMs: 0, setAside: [] },
  reportedAt: NOW,
}
const PAIR: PairState = {
  lease: {
    ...{ generation: 7, server: { id: 'a', name: 'oslo' }, from: { id: 'b', name: 'bergen' } },
    ...{ since: NOW - HOUR, cause: 'handover', ttlMs: 10_000 },
  },
  ...{ problem: undefined, standbys: [READY], standbyAt: NOW, setAside: [] },
}

const STALL = { since: NOW, reason: 'no route', onTimeout: 'acknowledge' as const }

const pair = (change: Partial<PairState>) => ({ pair: { ...PAIR, ...change } })
const lease = (change: Partial<PairState['lease']>) => pair({ lease: { ...PAIR.lease, ...change } })

const alertsIn = (state: Partial<State>) =>
  createInstallationAlerts({
    ...app.platform,
    instanceHealth: { read: () => ({ issues: issuesIn({ ...HEALTHY, ...state }) }) as never },
  })

/** Checks with the given state of the installation. */
const checkIn = (state: Partial<State>) => alertsIn(state).check()

test.each<[kind: string, state: Partial<State>, text: RegExp, expected: object]>([
  ['disk.low', { freeBytes: 512 * 1024 ** 2 }, /^537 MB of disk space/, { path: '/health' }],
  ['backlog.growing', queue('runs', 2), /2 minutes/, { subject: 'queue:runs', name: 'Jobs' }],
  [
    'backlog.growing',
    queue('deliveries', 9),
    /9 minutes/,
    { subject: 'queue:deliveries', name: 'Deliveries' },
  ],
  [
    'backup.failed',
    backups(row(NOW - HOUR), row(NOW, 'no space left')),
    /^no space left\.$/,
    { path: '/backups' },
  ],
  ['backup.overdue', backups(row(NOW - 26 * HOUR)), /No backup/, { path: '/backups' }],
  [
    'standby.missing',
    pair({ standbys: [{ ...READY, isReady: false, reason: 'no key' }], standbyAt: NOW - MINUTE }),
    /^bergen: no key\.$/,
    { path: '/failover' },
  ],
  [
    'database.set_aside',
    pair({ standbys: [{ ...READY, setAside: ['/a/set-aside/1', '/a/set-aside/2'] }] }),
    /other server has: \/a\/set-aside\/1, \/a\/set-aside\/2\.$/,
    { subject: 'server:b', name: 'bergen' },
  ],
  ['replica.unreachable', { stall: STALL }, /^no route\. Writes are acknowledged/, {}],
])('%s opens once while it lasts, and resolves', async (kind, state, words, expected) => {
  await checkIn(HEALTHY)
  expect(open()).toEqual([])
  for (let n = 0; n < 3; n++) await checkIn(state)
  const text = expect.stringMatching(words)
  expect(open()).toMatchObject([{ kind, count: 1, tenantId: null, text, ...expected }])
  await checkIn(HEALTHY)
  expect(open()).toEqual([])
})

test('A takeover from a server that stopped is reported once, and one that was asked for never', async () => {
  await checkIn(lease({ cause: 'handover' }))
  expect(open()).toEqual([])
  const stopped = lease({ cause: 'expiry', lossMs: 1500 })
  for (let n = 0; n < 2; n++) await checkIn(stopped)
  const text = 'oslo is active now. Writes of the last 1.5 s before that may be lost.'
  const alert = { kind: 'server.failed_over', name: 'bergen', closesAfterMs: DAY }
  expect(open()).toMatchObject([{ ...alert, text, count: 1 }])
  await db.commit(() => alerts.close(null, 'generation:7'))
  await checkIn(stopped)
  await checkIn(lease({ cause: 'expiry', generation: 8, since: NOW - DAY - 1 }))
  expect(open()).toEqual([])
})

test('A takeover is reported within seconds, before another restart hides it', async () => {
  const watch = alertsIn(lease({ cause: 'expiry', generation: 9 }))
  watch.start()
  await app.clock.advance(5000)
  await db.drain()
  watch.stop()
  expect(open()).toMatchObject([{ kind: 'server.failed_over' }])
  await db.commit(() => alerts.close(null, 'generation:9'))
})

test('A standby may be away for a moment, such as while it is restarted', async () => {
  await checkIn(pair({ standbys: [], standbyAt: NOW - 30_000 }))
  expect(open()).toEqual([])
  await checkIn(pair({ standbys: [], standbyAt: NOW - 30_001 }))
  expect(open()).toMatchObject([{ text: 'No other server stands by.' }])
  await checkIn(pair({}))
  expect(open()).toEqual([])
})

test('Writes that were refused without the replica are an alert once that is over', async () => {
  app.installationAlerts.wasStalled({ ...STALL, onTimeout: 'refuse' })
  await db.drain()
  expect(open()).toMatchObject([
    { kind: 'replica.unreachable', text: expect.stringMatching(/^no route\. Writes are refused/) },
  ])
  await checkIn(HEALTHY)
  expect(open()).toEqual([])
})

const folder = temporaryFolder()
const damagedFile = join(folder.path, 'damaged.db')
writeFileSync(damagedFile, Buffer.alloc(8192, 0xff))
afterAll(() => folder[Symbol.dispose]())

function errorOf(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
}

test('Errors about a damaged file are an alert, counted once a check, which closes by itself', async () => {
  const damage = errorOf(() => new Database(damagedFile).query('SELECT * FROM sqlite_schema').all())
  const fails = () =>
    db.commit(() => {
      throw damage
    })
  for (let n = 0; n < 5; n++) await expect(fails()).rejects.toThrow('damaged')
  for (let n = 0; n < 3; n++) await app.installationAlerts.check()
  const alert = { kind: 'database.damaged', severity: 'critical', closesAfterMs: DAY }
  expect(open()).toMatchObject([{ ...alert, count: 1 }])
  db.noteError(new Error('of another kind'))
  await app.installationAlerts.check()
  expect(open()).toMatchObject([{ count: 1 }])
  db.noteError(new Error('of a request', { cause: damage }))
  await app.installationAlerts.check()
  expect(open()).toMatchObject([{ count: 2 }])
})
