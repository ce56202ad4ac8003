import type { Gatehouse } from '../app.ts'
import type { Config } from '../config/index.ts'
import type { Db } from '../db/open.ts'
import type { Actor } from '../platform/audit/index.ts'
import { systemClock } from '../platform/clock.ts'
import { createLog, type Log } from '../platform/log.ts'
import { createOutbound } from '../platform/outbound/index.ts'
import { createPlatform, type Platform } from '../platform/platform.ts'
import { thisProcess } from '../platform/process.ts'
import { createSealing } from '../platform/sealing/index.ts'
import { openKeyRing } from '../platform/sealing/open-key-ring.ts'
import { ALONE, type Siblings } from '../platform/siblings.ts'
import { VERSION } from '../platform/version.ts'
import type { Io } from './command.ts'
import { cliActor, openConfigured, refuseNoData, refuseUnmigrated } from './open.ts'

/** The platform of a configuration, as the server has it. */
export async function platformOn(on: {
  config: Config
  db: Db
  log: Log
  siblings?: Siblings | undefined
}): Promise<Platform> {
  const { config, db, log, siblings = ALONE } = on
  const { outbound, brand, metering, dataDir } = config
  return createPlatform({
    db,
    clock: systemClock,
    log,
    outbound: createOutbound({
      clock: systemClock,
      allow: [...outbound.allow],
      timeoutMs: outbound.timeoutMs,
      maxResponseBytes: outbound.maxResponseBytes,
    }),
    sealing: createSealing(await openKeyRing({ db, clock: systemClock, dataDir })),
    keyPrefix: brand.prefix,
    metering,
    process: thisProcess(VERSION),
    siblings,
  })
}

/** All services of the server, without its loops, beside a running server or without one. */
export interface Application {
  gatehouse: Gatehouse
  platform: Platform
  actor: Actor
}

/** Runs `work` with every service of the server. Throws `not_found` without data, creating none. */
export async function withApplication<T>(
  config: Config,
  io: Io,
  work: (application: Application) => Promise<T>,
): Promise<T> {
  refuseNoData(config)
  const db = openConfigured(config)
  try {
    refuseUnmigrated(db)
    const { createApp } = await import('../app.ts')
    const log = createLog({ level: 'warn', format: 'text', now: systemClock.now, write: io.err })
    const platform = await platformOn({ config, db, log })
    return await work({ gatehouse: createApp(platform, config), platform, actor: cliActor() })
  } finally {
    await db.drain()
    db.close()
  }
}
