import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { serveAsActive } from '../../src/failover/active.ts'
import { isAllUploaded, openServerState } from '../../src/failover/data-directory.ts'
import { createLeaseWatch } from '../../src/failover/lease-watch.ts'
import type { Litestream } from '../../src/failover/litestream.ts'
import { NEWEST_SCHEMA } from '../../src/failover/tenure.ts'
import type { Turn } from '../../src/failover/turn.ts'
import type { WarmCopy } from '../../src/failover/warm-copy.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createFence, FENCE_BYTES } from '../../src/platform/fence.ts'
import { createLog } from '../../src/platform/log.ts'
import { createObjectStorage, within } from '../../src/platform/object-storage/index.ts'
import { createLeaseStore } from '../../src/platform/replication/lease.ts'
import { createReports } from '../../src/platform/replication/reports.ts'
import { keyIdIn } from '../../src/platform/replication/sealed-key.ts'
import { loadMasterKey } from '../../src/platform/sealing/key-file.ts'
import { until } from '../support/binary.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startLitestream } from '../support/litestream.ts'
import { startS3Server } from '../support/s3-server.ts'

const to = 's3://bucket/gatehouse'
const log = createLog({ level: 'error', format: 'json', now: () => 0, write: () => {} })

const OLD_SCHEMA = '0000_foundation'

/** A server whose copy is complete, and the lease of another one that was given up. */
function createFixture() {
  const stack = new DisposableStack()
  const { path: dataDir } = stack.use(temporaryFolder())
  const uploads = stack.use(startLitestream(dataDir))
  const s3 = stack.use(startS3Server())
  const storage = createObjectStorage(s3.settings, within(1000))
  const leases = createLeaseStore({ storage, to })
  const stop = Promise.withResolvers<void>()
  const up = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<number>()
  const end = () => ended.resolve(0)
  const run = { exited: ended.promise, stop: end, kill: end, isRunning: () => true }
  const copy = join(dataDir, 'copy.db')
  new Database(copy).run(`CREATE TABLE _migrations AS SELECT '${OLD_SCHEMA}' AS id`)
  const serving = {
    isUp: Promise.resolve(true),
    stop: async () => true,
    destroy: async () => {},
    tell: () => {},
  }
  const parts: Parameters<typeof serveAsActive>[0] = {
    ...{ dataDir, log, stopAsked: stop.promise },
    folder: { to, storage, leases, reports: createReports({ storage, to }) },
    keys: { canSeal: false, store: async () => {}, fetch: async () => {} },
    state: openServerState(dataDir),
    copy: {
      file: copy,
      txid: () => 5n,
      complete: async () => 5n,
      discard: () => {},
    } as unknown as WarmCopy,
    litestream: { socket: uploads.socket, replicate: () => run } as unknown as Litestream,
    fence: createFence(new ArrayBuffer(FENCE_BYTES), 0),
    startServing: () => {
      up.resolve()
      return serving
    },
  }

  async function turn(schema = NEWEST_SCHEMA): Promise<Turn> {
    const watch = (id: string) =>
      createLeaseWatch({
        ...{ store: leases, me: { id, name: id }, ttlMs: 3000, acknowledge: 'local' },
      })
    const first = await watch('one').take(undefined, 'first')
    if (!first) throw new Error('the lease was not taken')
    await leases.write({ ...first.lease, schema }, { etag: first.etag })
    const before = await leases.read()
    const taken = await watch('two').take(before, 'handover')
    if (!taken) throw new Error('the lease was not taken')
    return { taken, before, from: 'copy' }
  }

  return {
    ...{ s3, parts, uploads, serving, leases, turn, stop: stop.resolve, isUp: up.promise },
    [Symbol.dispose]: () => stack.dispose(),
  }
}

test('A server that is ended before its first upload names its path in the lease that it gives up', async () => {
  using fixture = createFixture()
  const { parts, uploads, serving, leases } = fixture
  uploads.answer = () => new Response('', { status: 500 })
  serving.stop = async () => {
    uploads.answer = () => Response.json({ status: 'synced', replicated_txid: 6 })
    return true
  }
  const turn = await fixture.turn()
  const ending = serveAsActive(parts, turn)
  await fixture.isUp
  fixture.stop()
  expect(await ending).toBe('stopped')
  const { path, bases, state, generation } = (await leases.read())?.lease ?? {}
  expect([state, bases]).toEqual([
    'released',
    [{ path: turn.taken.lease.path, txid: '0000000000000005' }],
  ])
  expect(path).toBe(turn.taken.lease.next as string)
  expect(parts.state.get()).toMatchObject({ isReleased: true, generation })
})

test('A server whose last upload fails leaves its lease to expire', async () => {
  using fixture = createFixture()
  const { uploads, leases } = fixture
  uploads.answer = () => new Response('', { status: 500 })
  const ending = serveAsActive(fixture.parts, await fixture.turn())
  await fixture.isUp
  const now = systemClock.monotonic
  using _fast = spyOn(systemClock, 'monotonic').mockImplementation(() => 100 * now())
  fixture.stop()
  expect(await ending).toBe('stopped')
  const last = await leases.read()
  expect(last?.lease.state).toBe('ending')
  await Bun.sleep(1500)
  expect(await leases.read()).toEqual(last)
  expect(fixture.parts.state.get().isReleased).toBe(false)
})

test('A server whose disk is full as it becomes active acknowledges, and notes its turn once it can', async () => {
  using fixture = createFixture()
  const { parts, uploads } = fixture
  const { state } = parts
  let isFull = true
  uploads.answer = () => Response.json({ status: 'synced', replicated_txid: 6 })
  const change: typeof state.change = (more) => {
    if (isFull && more.generation === 2) throw new Error('ENOSPC')
    state.change(more)
  }
  const ending = serveAsActive({ ...parts, state: { ...state, change } }, await fixture.turn())
  await until(parts.fence.isPublished)
  expect(state.get().generation).toBe(0)
  isFull = false
  await until(() => state.get().generation === 2)
  fixture.stop()
  expect(await ending).toBe('stopped')
})

test('A server names its master.key in the lease before it can store it, and tries again', async () => {
  using fixture = createFixture()
  const { parts, uploads, leases } = fixture
  uploads.answer = () => Response.json({ status: 'synced', replicated_txid: 6 })
  loadMasterKey(parts.dataDir)
  let attempts = 0
  const store = async () => {
    if (attempts++ === 0) throw new Error('no key file')
  }
  const ending = serveAsActive(
    { ...parts, keys: { ...parts.keys, canSeal: true, store } },
    await fixture.turn(),
  )
  await until(() => attempts === 2)
  expect((await leases.read())?.lease.keyId).toBe(keyIdIn(parts.dataDir))
  fixture.stop()
  expect(await ending).toBe('stopped')
})

test('A lease names a migration before the database has it, and no longer if it could not be made', async () => {
  using fixture = createFixture()
  const { parts, leases, serving, uploads } = fixture
  uploads.answer = () => Response.json({ status: 'synced', replicated_txid: 6 })
  const schema = async () => (await leases.read())?.lease.schema
  const turn = await fixture.turn(OLD_SCHEMA)
  expect(await schema()).toBe(OLD_SCHEMA)
  let atStart: Promise<string | undefined> | undefined
  const startServing = () => {
    atStart = schema()
    return { ...serving, isUp: Promise.resolve(false) }
  }
  expect(await serveAsActive({ ...parts, startServing }, turn)).toBe('failed')
  expect(await atStart).toBe(NEWEST_SCHEMA)
  expect(await leases.read()).toMatchObject({ lease: { state: 'released', schema: OLD_SCHEMA } })
})

test('A server that is ended before it can say that it migrates serves nothing', async () => {
  using fixture = createFixture()
  const { parts, s3, leases, uploads } = fixture
  uploads.answer = () => Response.json({ status: 'synced', replicated_txid: 6 })
  const turn = await fixture.turn(OLD_SCHEMA)
  s3.intercept = async (request) => {
    if (request.method !== 'PUT' || !(await request.clone().text()).includes(NEWEST_SCHEMA))
      return undefined
    fixture.stop()
    return new Response('', { status: 403 })
  }
  const startServing = () => {
    throw new Error('started')
  }
  expect(await serveAsActive({ ...parts, startServing }, turn)).toBe('stopped')
  expect(await leases.read()).toMatchObject({ lease: { state: 'released', schema: OLD_SCHEMA } })
})

test('A server that is ended while it takes over has nothing to set aside', async () => {
  using fixture = createFixture()
  const { parts, s3 } = fixture
  s3.intercept = (request) => {
    if (!request.url.includes('/0000/') || request.method !== 'PUT') return undefined
    fixture.stop()
    return new Response('', { status: 503 })
  }
  expect(await serveAsActive(parts, await fixture.turn())).toBe('stopped')
  expect(isAllUploaded(parts.dataDir, parts.state.get())).toBe(true)
})
