import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/open.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { createMetrics } from '../../src/platform/metrics/index.ts'
import { createReplication } from '../../src/platform/replication/index.ts'
import { ALONE } from '../../src/platform/siblings.ts'
import { testConfig } from '../support/config.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startLitestream } from '../support/litestream.ts'
import { startS3Server } from '../support/s3-server.ts'

const log = createLog({ level: 'error', format: 'json', now: () => 0, write: () => {} })

/** A database of the active server of generation 1. `fence` and the lease in the bucket can change. */
function createFixture(checkLease: 'clock' | 'bucket') {
  const stack = new DisposableStack()
  const folder = stack.use(temporaryFolder()).path
  const [s3, litestream] = [stack.use(startS3Server()), stack.use(startLitestream(folder))]
  const config = testConfig(
    {},
    {
      ...s3.env,
      GATEHOUSE_DATABASE_EXTERNAL_CHECKPOINT: 'true',
      GATEHOUSE_REPLICATION_ROLE: 'auto',
      GATEHOUSE_REPLICATION_TO: 's3://bucket',
      GATEHOUSE_REPLICATION_ACKNOWLEDGE: 'replicated',
      GATEHOUSE_REPLICATION_SOCKET: litestream.socket,
      GATEHOUSE_REPLICATION_TIMEOUT: '1s',
      GATEHOUSE_REPLICATION_CHECK_LEASE: checkLease,
    },
  )
  const db = stack.adopt(openDatabase({ dataDir: folder, synchronous: 'normal' }), (open) =>
    open.close(),
  )
  const fence = { open: true, published: true }
  const tenure = {
    generation: 1,
    fence: { isOpen: () => fence.open, isPublished: () => fence.published },
  }
  const siblings = { ...ALONE, tenure }
  createReplication({
    db,
    clock: systemClock,
    log,
    metrics: createMetrics(),
    siblings,
    config,
  }).start()
  const leaseOf = (generation: number) => {
    const lease = {
      ...{
        format: 1,
        generation,
        server: { id: 'a', name: 'a' },
        version: '1',
        schema: '',
        nonce: 'n',
      },
      ...{ renewal: 0, ttlMs: 1, state: 'held', path: 'generations/p', bases: [], obsolete: [] },
      since: 0,
      ...{ renewedAt: 0, acknowledge: 'replicated', cause: 'first' },
    }
    s3.objects.set('lease.json', {
      body: new TextEncoder().encode(JSON.stringify(lease)),
      modifiedAt: new Date(),
    })
  }
  leaseOf(1)
  db.client.run('CREATE TABLE t (n INTEGER) STRICT')
  const write = () => db.commit(() => void db.client.run('INSERT INTO t VALUES (1)'))
  const rows = () => db.client.query('SELECT n FROM t').all().length
  return { fence, litestream, write, rows, leaseOf, [Symbol.dispose]: () => stack.dispose() }
}

test('Nothing is written without the lease, and nothing acknowledged if it is lost before the confirmation', async () => {
  using fixture = createFixture('clock')
  await fixture.write()
  const uploaded = Promise.withResolvers<Response>()
  fixture.litestream.answer = () => uploaded.promise
  const unconfirmed = fixture.write()
  await Bun.sleep(20)
  fixture.fence.open = false
  uploaded.resolve(Response.json({ status: 'synced' }))
  await expect(unconfirmed).rejects.toThrow('may be lost or stored')
  expect(fixture.rows()).toBe(2)
  await expect(fixture.write()).rejects.toThrow('nothing is written')
  expect(fixture.rows()).toBe(2)
})

test('What is uploaded counts once the lease says where it is', async () => {
  using fixture = createFixture('clock')
  fixture.fence.published = false
  let isWritten = false
  const written = fixture.write().then(() => {
    isWritten = true
  })
  await Bun.sleep(100)
  expect(isWritten).toBe(false)
  fixture.fence.published = true
  await written
})

test('With check_lease = "bucket", a server whose clock stopped acknowledges nothing', async () => {
  using fixture = createFixture('bucket')
  await fixture.write()
  fixture.leaseOf(2)
  await expect(fixture.write()).rejects.toThrow('may be lost or stored')
})
