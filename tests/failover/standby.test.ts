import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { databaseFile } from '../../src/db/open.ts'
import { openServerState } from '../../src/failover/data-directory.ts'
import { nameOfFile } from '../../src/failover/empty-file.ts'
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
