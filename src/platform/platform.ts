import type { Db } from '../db/open.ts'
import { createAudit } from './audit.ts'
import type { Clock } from './clock.ts'
import { createInstances } from './instances.ts'
import { createKeys } from './keys.ts'
import type { Log } from './log.ts'
import { createMetrics } from './metrics.ts'
import type { Outbound } from './outbound/index.ts'
import type { Process } from './process.ts'
import { createRetention } from './retention.ts'
import { createTenants } from './tenants.ts'

export type Platform = ReturnType<typeof createPlatform>

/** What every engine stands on. Each part of the program takes only what it names. */
export function createPlatform(parts: {
  db: Db
  clock: Clock
  log: Log
  outbound: Outbound
  keyPrefix: string
  process: Process
}) {
  const { db, clock, log, outbound, keyPrefix } = parts
  const audit = createAudit({ db, clock })
  const keys = createKeys({ db, clock, audit, prefix: keyPrefix })
  return {
    db,
    clock,
    log,
    outbound,
    audit,
    tenants: createTenants({ db, clock, audit, onChange: keys.forget }),
    keys,
    instances: createInstances({ db, clock, process: parts.process }),
    metrics: createMetrics(),
    retention: createRetention({ db, clock, log }),
  }
}
