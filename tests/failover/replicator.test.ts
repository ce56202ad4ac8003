import { expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import type { Litestream, LitestreamProcess } from '../../src/failover/litestream.ts'
import { startReplicator } from '../../src/failover/replicator.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { until } from '../support/binary.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startLitestream } from '../support/litestream.ts'

const log = createLog({ level: 'error', format: 'json', now: () => 0, write: () => {} })

/** Keeps a Litestream running that does nothing. The results of `start` are those of each attempt. */
function keepRunning(folder: string, start: (attempt: number) => void) {
  let attempts = 0
  let current = Promise.withResolvers<number>()
  const end = () => current.resolve(1)
  function replicate(): LitestreamProcess {
    start(++attempts)
    current = Promise.withResolvers()
    return {
      ...{ exited: current.promise, stop: end, kill: end },
      ...{ isRunning: () => true, lastLine: () => '' },
    }
  }
  const litestream = { socket: join(folder, 'litestream.sock'), replicate } as unknown as Litestream
  const replicator = startReplicator({ litestream, path: 'one', database: 'gatehouse.db', log })
  return { ...replicator, end, attempts: () => attempts }
}

test('A Litestream that hangs is started again', async () => {
  using folder = temporaryFolder()
  const now = systemClock.monotonic
  using _fast = spyOn(systemClock, 'monotonic').mockImplementation(() => 1_000_000 * now())
  const { attempts, kill } = keepRunning(folder.path, () => {})
  await until(() => attempts() > 1)
  await kill()
})

test('A Litestream that answers is left alone', async () => {
  using folder = temporaryFolder()
  using _litestream = startLitestream(folder.path)
  const now = systemClock.monotonic
  using _fast = spyOn(systemClock, 'monotonic').mockImplementation(() => 1_000_000 * now())
  const { attempts, kill } = keepRunning(folder.path, () => {})
  await Bun.sleep(200)
  expect(attempts()).toBe(1)
  await kill()
})

test('Litestream is started again as often as it takes, such as while the disk is full', async () => {
  using folder = temporaryFolder()
  const { attempts, end, kill } = keepRunning(folder.path, (attempt) => {
    if (attempt === 2) throw new Error('ENOSPC')
  })
  end()
  await until(() => attempts() === 3)
  await kill()
})
