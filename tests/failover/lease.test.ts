import { expect, test } from 'bun:test'
import { createLeaseWatch } from '../../src/failover/lease-watch.ts'
import { holdLease, type Taken } from '../../src/failover/tenure.ts'
import { createFence, FENCE_BYTES } from '../../src/platform/fence.ts'
import { createLog } from '../../src/platform/log.ts'
import { createObjectStorage, within } from '../../src/platform/object-storage/index.ts'
import { requestHandover } from '../../src/platform/replication/handover.ts'
import { createLeaseStore } from '../../src/platform/replication/lease.ts'
import { requireAtomicWrites } from '../../src/platform/replication/probe.ts'
import { createReports } from '../../src/platform/replication/reports.ts'
import { until } from '../support/binary.ts'
import { startS3Server } from '../support/s3-server.ts'

const TTL_MS = 1500
const to = 's3://bucket/gatehouse'
const log = createLog({ level: 'error', format: 'json', now: () => 0, write: () => {} })

/** A bucket, and servers that want the lease in it. */
function createFixture(ttlMs = TTL_MS) {
  const s3 = startS3Server()
  const storage = createObjectStorage(s3.settings, within(ttlMs))
  const folder = {
    to,
    storage,
    leases: createLeaseStore({ storage, to }),
    reports: createReports({ storage, to }),
  }
  const watch = (name: string) =>
    createLeaseWatch({
      ...{ store: folder.leases, me: { id: name, name }, ttlMs, acknowledge: 'replicated' },
    })
  const hold = (taken: Taken | undefined) => {
    if (!taken) throw new Error('the lease was not taken')
    const fence = createFence(new ArrayBuffer(FENCE_BYTES), 0)
    return { fence, ...holdLease({ store: folder.leases, fence, log, taken }) }
  }
  const isReady = (name: string) =>
    folder.reports.write({
      ...{ id: name, name, version: '1.0.0', isReady: true, lagMs: 0, setAside: [] },
      reportedAt: Date.now(),
    })
  return { s3, storage, folder, watch, hold, isReady, [Symbol.dispose]: s3[Symbol.dispose] }
}

test('Of servers that want a free lease at once, one gets it, and a path of its own', async () => {
  using fixture = createFixture()
  const names = ['a', 'b', 'c', 'd']
  const first = await Promise.all(names.map((name) => fixture.watch(name).take(undefined, 'first')))
  expect(first.filter(Boolean)).toHaveLength(1)
  const free = await fixture.folder.leases.read()
  const second = await Promise.all(names.map((name) => fixture.watch(name).take(free, 'expiry')))
  expect(second.filter(Boolean).map((taken) => taken?.lease.generation)).toEqual([2])
  // The path of a server that is lost before it uploads there is deleted some day.
  const unused = second.find(Boolean)?.lease
  const third = await fixture.watch('a').take(await fixture.folder.leases.read(), 'expiry')
  expect(third?.lease.path).toBe(unused?.path as string)
  expect(third?.lease.obsolete).toEqual([unused?.next as string])
})

test('A lease that is renewed does not expire; one that is not expires after its holder has stopped', async () => {
  using fixture = createFixture()
  const holder = fixture.hold(await fixture.watch('a').take(undefined, 'first'))
  const standby = fixture.watch('b')
  const end = performance.now() + 1.5 * TTL_MS
  while (performance.now() < end) {
    expect((await standby.look()).isExpired).toBe(false)
    expect(holder.fence.isOpen()).toBe(true)
    await Bun.sleep(50)
  }
  // From now on, only the other server reaches the bucket.
  fixture.s3.intercept = async (request) => {
    const isOfHolder =
      request.method === 'PUT' && (await request.clone().text()).includes('"server":{"id":"a"')
    return isOfHolder ? new Response('', { status: 403 }) : undefined
  }
  let seen = await standby.look()
  for (; !seen.isExpired; seen = await standby.look()) await Bun.sleep(5)
  expect(holder.fence.isOpen()).toBe(false)
  const taken = await standby.take(seen.stored, 'expiry')
  expect(taken?.lease.generation).toBe(2)
  let isUpdated = false
  void holder.update({ lossMs: 1 }).then(() => {
    isUpdated = true
  })
  fixture.s3.intercept = () => undefined
  await holder.lost
  await holder.abandon()
  expect(holder.fence.isOpen()).toBe(false)
  expect(isUpdated).toBe(false)
}, 20_000)

test('A renewal whose response is lost counts from when it was sent', async () => {
  using fixture = createFixture()
  const holder = fixture.hold(await fixture.watch('a').take(undefined, 'first'))
  let lost = 0
  fixture.s3.intercept = async (request, { answer }) => {
    if (request.method !== 'PUT') return undefined
    await answer()
    lost++
    return new Response('', { status: 503 })
  }
  await until(() => lost >= 4)
  expect(holder.fence.isOpen()).toBe(true)
  expect((await fixture.folder.leases.read())?.lease.renewal).toBeGreaterThanOrEqual(3)
})

test('A holder is asked to step down by a change of its lease, and goes on until it does', async () => {
  using fixture = createFixture()
  const holder = fixture.hold(await fixture.watch('a').take(undefined, 'first'))
  const request = { by: 'somebody', now: Date.now() }
  await expect(requestHandover(fixture.folder, request)).rejects.toThrow('there is no standby')
  await fixture.isReady('b')
  await requestHandover(fixture.folder, { ...request, to: 'b' })
  await holder.handover
  expect(holder.fence.isOpen()).toBe(true)
  await holder.release()
  expect(holder.fence.isOpen()).toBe(false)
  expect((await fixture.folder.leases.read())?.lease).toMatchObject({
    ...{ state: 'released', generation: 1, handover: { to: 'b', by: 'somebody' } },
  })
})

test('A lease is given up even if another server takes it before the response arrives', async () => {
  using fixture = createFixture()
  const holder = fixture.hold(await fixture.watch('a').take(undefined, 'first'))
  fixture.s3.intercept = async (request, { answer }) => {
    const isRelease =
      request.method === 'PUT' && (await request.clone().text()).includes('"state":"released"')
    if (!isRelease) return undefined
    fixture.s3.intercept = () => undefined
    await answer()
    await fixture.watch('b').take(await fixture.folder.leases.read(), 'handover')
    return new Response('', { status: 503 })
  }
  expect(await holder.release()).toBe(true)
  expect((await fixture.folder.leases.read())?.lease).toMatchObject({ generation: 2 })
})

test('A holder that abandons its lease renews it no more, so that it expires', async () => {
  using fixture = createFixture()
  const holder = fixture.hold(await fixture.watch('a').take(undefined, 'first'))
  await holder.abandon()
  expect(holder.fence.isOpen()).toBe(false)
  const standby = fixture.watch('b')
  await until(async () => (await standby.look()).isExpired)
})

test.each([
  { obsolete: [''] },
  { path: 'generations/../x' },
  { txid: 'zz' },
  { bases: [{ path: 'generations/1', txid: '1' }] },
])('A lease with %j is refused, and says what to do', async (change) => {
  using fixture = createFixture()
  const taken = await fixture.watch('a').take(undefined, 'first')
  const url = fixture.folder.leases.url
  await fixture.storage.write(url, JSON.stringify({ ...taken?.lease, ...change }))
  await expect(fixture.watch('b').look()).rejects.toThrow('if the object is damaged, delete it')
})

test('A bucket in which several conditional writes win at once is refused', async () => {
  using fixture = createFixture()
  await requireAtomicWrites(fixture.folder)
  expect([...fixture.s3.objects.keys()]).toEqual([])
  fixture.s3.intercept = (request) =>
    request.method === 'PUT' ? new Response('', { headers: { etag: '"1"' } }) : undefined
  await expect(requireAtomicWrites(fixture.folder)).rejects.toThrow('8 of 8 conditional writes')
})
