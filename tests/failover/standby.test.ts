import { expect, test } from 'bun:test'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { databaseFile } from '../../src/db/open.ts'
import { listSetAside, markOf, openServerState } from '../../src/failover/data-directory.ts'
import { nameOfFile } from '../../src/failover/empty-file.ts'
import { createLeaseWatch } from '../../src/failover/lease-watch.ts'
import { createStandby } from '../../src/failover/standby.ts'
import type { Turn } from '../../src/failover/turn.ts'
import type { WarmCopy } from '../../src/failover/warm-copy.ts'
import { createLog } from '../../src/platform/log.ts'
import { createObjectStorage, within } from '../../src/platform/object-storage/index.ts'
import { createLeaseStore } from '../../src/platform/replication/lease.ts'
import { createReports } from '../../src/platform/replication/reports.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startS3Server } from '../support/s3-server.ts'

const to = 's3://bucket/gatehouse'
const log = createLog({ level: 'error', format: 'json', now: () => 0, write: () => {} })
const copy = {
  path: () => undefined,
  txid: () => undefined,
  follow: () => {},
  isReady: () => false,
}

/** Servers that never serve. `start` starts one again, on its data directory. */
function createFixture() {
  const stack = new DisposableStack()
  const s3 = stack.use(startS3Server())
  const storage = createObjectStorage(s3.settings, within(1000))
  const leases = createLeaseStore({ storage, to })
  const folder = { to, storage, leases, reports: createReports({ storage, to }) }
  const { path: dataDir } = stack.use(temporaryFolder())
  const file = databaseFile(dataDir)

  function start() {
    const state = openServerState(dataDir)
    const standby = createStandby({
      ...{ dataDir, folder, state, log, ttlMs: 300, acknowledge: 'local', waits: false },
      me: { id: state.get().id, name: 'one' },
      keys: { canSeal: false, store: async () => {}, fetch: async () => {} },
      copy: copy as unknown as WarmCopy,
    })
    return { state, standby }
  }

  /** Looks until it takes the lease. Undefined if it does not. */
  async function waitForTurn({ standby }: ReturnType<typeof start>): Promise<Turn | undefined> {
    for (let looks = 0; looks < 20; looks++) {
      const turn = await standby.look()
      if (turn) return turn
      await Bun.sleep(50)
    }
    return undefined
  }

  return {
    ...{ s3, leases, dataDir, file, start, waitForTurn },
    [Symbol.dispose]: () => stack.dispose(),
  }
}

test('A server that stops after it took the lease for its own data, again and again, keeps that', async () => {
  using fixture = createFixture()
  writeFileSync(fixture.file, 'never uploaded')
  const causes: unknown[] = []
  for (let starts = 0; starts < 3; starts++) {
    const turn = await fixture.waitForTurn(fixture.start())
    causes.push([turn?.taken.lease.cause, turn?.from])
  }
  expect(causes).toEqual([
    ['first', 'own'],
    ['restart', 'own'],
    ['restart', 'own'],
  ])
  expect(existsSync(fixture.file)).toBe(true)
})

test('A server that stops before it has created the first database creates it at its next start', async () => {
  using fixture = createFixture()
  await fixture.waitForTurn(fixture.start())
  expect((await fixture.waitForTurn(fixture.start()))?.from).toBe('own')
  // Once something is in object storage, an empty database would hide it.
  const lease = (await fixture.leases.read())?.lease
  fixture.s3.objects.set(`gatehouse/${lease?.path}/0000/${nameOfFile(1n)}`, {
    ...{ body: new Uint8Array(), modifiedAt: new Date() },
  })
  expect(await fixture.waitForTurn(fixture.start())).toBeUndefined()
})

/** A server that was active before another one, and what it has kept of its database after a look. */
async function createFormer(fixture: ReturnType<typeof createFixture>) {
  const { dataDir, leases } = fixture
  const me = { id: 'two', name: 'two' }
  await createLeaseWatch({ store: leases, me, ttlMs: 60_000, acknowledge: 'local' }).take(
    undefined,
    'first',
  )
  const { state, standby } = fixture.start()
  async function kept() {
    await standby.look()
    expect(existsSync(fixture.file)).toBe(false)
    return listSetAside(dataDir).map((folder) => readdirSync(folder).toSorted())
  }
  return { state, kept }
}

test('A server that gave up its lease deletes its database, unless something was written since', async () => {
  using fixture = createFixture()
  const { dataDir, file } = fixture
  const { state, kept } = await createFormer(fixture)
  const release = () => state.change({ isReleased: true, releasedMark: markOf(dataDir) })
  writeFileSync(file, 'database')
  writeFileSync(`${file}-wal`, 'log')
  release()
  expect(await kept()).toEqual([])
  expect(existsSync(`${file}-wal`)).toBe(false)
  writeFileSync(file, 'database')
  release()
  // Such as by a server that served alone meanwhile.
  writeFileSync(`${file}-wal`, 'log')
  expect(await kept()).toEqual([['gatehouse.db', 'gatehouse.db-wal']])
})

test('A log whose database was moved away is not left for the next database', async () => {
  using fixture = createFixture()
  const { kept } = await createFormer(fixture)
  writeFileSync(`${fixture.file}-wal`, 'log')
  expect(await kept()).toEqual([['gatehouse.db-wal']])
})
