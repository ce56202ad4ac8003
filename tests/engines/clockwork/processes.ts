import { createApp } from '../../../src/app.ts'
import { openDatabase } from '../../../src/db/open.ts'
import { isoTime } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createOutbound } from '../../../src/platform/outbound/index.ts'
import { createPlatform } from '../../../src/platform/platform.ts'
import { createSealing } from '../../../src/platform/sealing/index.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { createTestClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'

/** One more process on a data directory in use, with a clock of its own; it may find others gone. */
export async function bootProcess(
  dataDir: string,
  { now, othersRun = true }: { now: number; othersRun?: boolean },
) {
  const clock = createTestClock(isoTime(now))
  const db = openDatabase({ dataDir, synchronous: 'full' })
  const log = createLog({ level: 'error', format: 'json', now: clock.now, write: console.error })
  const outbound = createOutbound({
    clock,
    allow: ['127.0.0.0/8'],
    timeoutMs: 30_000,
    maxResponseBytes: 64 * 1024,
  })
  const process = { version: 'test', host: 'test', pid: 2, isRunning: () => othersRun }
  const sealing = createSealing(await openKeyRing({ db, clock, dataDir }))
  const parts = { db, clock, log, outbound, sealing, process, keyPrefix: 'svc', random: () => 0 }
  const platform = createPlatform({ ...parts, metering: testConfig().metering })
  const { app, clockwork, delivery, start, stop } = createApp(platform, testConfig())
  await start()
  clock.settled = async () => void (await Promise.all([clockwork.loop.idle(), delivery.idle()]))

  async function end() {
    await stop(0)
    db.close()
  }

  return { app, db, clock, clockwork, delivery, stop: () => stop(0), [Symbol.asyncDispose]: end }
}
