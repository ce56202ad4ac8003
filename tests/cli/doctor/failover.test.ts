import { afterAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { failover } from '../../../src/cli/doctor/failover.ts'
import { withoutDatabase } from '../../../src/cli/doctor/inside.ts'
import { newKeyPair } from '../../../src/platform/backup/encryption.ts'
import type { Lease } from '../../../src/platform/replication/lease.ts'
import { openSharedFolder } from '../../../src/platform/replication/pair.ts'
import type { Report } from '../../../src/platform/replication/reports.ts'
import { createSealedKey } from '../../../src/platform/replication/sealed-key.ts'
import { masterKeyFile } from '../../../src/platform/sealing/key-file.ts'
import { testConfig } from '../../support/config.ts'
import { installLitestream } from '../../support/fake-litestream.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startS3Server } from '../../support/s3-server.ts'

const folder = temporaryFolder()
const s3 = startS3Server()
afterAll(() => {
  s3[Symbol.dispose]()
  folder[Symbol.dispose]()
})

/** A key file, which is opened faster than with a passphrase. */
async function keyFile(name: string): Promise<string> {
  const file = join(folder.path, name)
  writeFileSync(file, (await newKeyPair()).identity)
  return file
}

const key = await keyFile('key')
const litestream = installLitestream(folder.path)

const configWith = (flags: Record<string, string> = {}) =>
  testConfig(
    {
      ...{ 'replication-role': 'auto', 'replication-to': 's3://bucket/gatehouse' },
      ...{ 'database-external-checkpoint': 'true' },
      ...{ 'data-dir': join(folder.path, 'standby'), 'replication-litestream': litestream },
      'replication-key-file': key,
      ...flags,
    },
    s3.env,
  )
const config = configWith()
const { leases, reports, storage, to } = openSharedFolder(config)

/** Findings as `result check: message`. */
const found = async (of = config) =>
  (await failover(of)).map(({ result, check, message }) => `${result} ${check}: ${message}`)

const LEASE: Lease = {
  ...{ format: 1, generation: 4, server: { id: 'a', name: 'oslo' }, version: '1', nonce: 'n' },
  ...{ renewal: 0, ttlMs: 10_000, state: 'held', path: 'generations/p', bases: [] },
  ...{ obsolete: [], schema: '' },
  ...{ since: 0, renewedAt: 0, acknowledge: 'replicated', cause: 'first', keyId: 'k' },
}
const STANDBY: Report = {
  ...{ id: 'b', name: 'bergen', version: '1', isReady: true, lagMs: 250, setAside: [] },
  // Never old, however long the test takes.
  reportedAt: Date.now() + 60_000,
}

/** Renews the lease as its holder does, by a clock that is off. */
function renewing(offMs = 0) {
  let renewal = 0
  const renew = async () => {
    const stored = await leases.read()
    const next = { ...LEASE, renewal: renewal++, renewedAt: Date.now() + offMs }
    await leases.write(next, stored ? { etag: stored.etag } : 'absent')
  }
  const timer = setInterval(renew, 200)
  return { first: renew(), [Symbol.dispose]: () => clearInterval(timer) }
}

test('A server on its own is not asked, and one before the first start has no lease to look at', async () => {
  expect(await failover(testConfig())).toEqual([])
  expect(await found()).toEqual([
    'ok shared folder: s3://bucket/gatehouse: of several writes at once, one succeeds',
    'ok litestream: version 0.5.18',
    'warning lease: no server was ever active: run `gatehouse serve` on one',
  ])
})

test('A pair that is well is ok in all respects', async () => {
  using holder = renewing()
  await holder.first
  const dataDir = join(folder.path, 'active')
  mkdirSync(dataDir)
  writeFileSync(masterKeyFile(dataDir), 'the key')
  const secret = config.replication
  await createSealedKey({ storage, to, dataDir, secret }).store('k')
  await reports.write(STANDBY)
  const all = await found()
  expect(all.filter((line) => !line.startsWith('ok'))).toEqual([])
  expect(all.join('\n')).toMatch(
    /lease: held by oslo, generation 4, since 1970.*master key in storage.*bergen is ready, 0\.3 s behind/s,
  )
}, 20_000)

test('A standby with another key, a clock that is off, and standbys that are not ready are found', async () => {
  using holder = renewing(-10 * 60_000)
  await holder.first
  await reports.write({ ...STANDBY, isReady: false, reason: 'no copy', setAside: ['/b/1'] })
  mkdirSync(join(config.dataDir, 'set-aside', '2'), { recursive: true })
  const all = await found(configWith({ 'replication-key-file': await keyFile('other') }))
  for (const line of [
    /^warning clock: the clock of oslo differs by 10 minutes/,
    /^problem master key in storage: /,
    /^warning standby: bergen cannot take over: no copy$/,
    /^warning set aside: bergen keeps \/b\/1,/,
    /^warning set aside: this server keeps \S+\/standby\/set-aside\/2,/,
  ])
    expect([line, all.filter((one) => line.test(one)).length]).toEqual([line, 1])
}, 20_000)

test('A lease that nobody renews, an old Litestream and a bucket that is not there are problems', async () => {
  await reports.write({ ...STANDBY, reportedAt: 0 })
  const etag = (await leases.read())?.etag ?? ''
  await leases.write({ ...LEASE, ttlMs: 1000 }, { etag })
  const old = join(folder.path, 'old')
  writeFileSync(old, '#!/bin/sh\necho v0.5.8\n')
  chmodSync(old, 0o755)
  const all = await found(configWith({ 'replication-litestream': old }))
  for (const line of [
    /^problem lease: oslo, generation 4, .* is not renewed/,
    /^problem litestream: \S+ is version v0\.5\.8\. Install Litestream 0\.5\.9/,
    /^warning standby: bergen cannot take over: it has not reported lately$/,
  ])
    expect([line, all.filter((one) => line.test(one)).length]).toEqual([line, 1])
  const elsewhere = await found(configWith({ 'replication-to': 's3://other/gatehouse' }))
  expect(elsewhere.filter((one) => /^problem (shared folder|lease): /.test(one))).toHaveLength(2)
}, 20_000)

test('A standby has no database and no key of its own to create', async () => {
  expect(await withoutDatabase(config)).toMatchObject([
    { result: 'ok', message: 'none here, because this server is not active' },
  ])
})
