import type { Config } from '../config/index.ts'
import type { Db } from '../db/open.ts'
import { createAlerts } from './alerts/index.ts'
import { createAudit } from './audit/index.ts'
import { createBranding } from './branding/index.ts'
import type { Clock } from './clock.ts'
import { ENGINES } from './engines.ts'
import { createInstances } from './instances.ts'
import { createKeys } from './keys/index.ts'
import type { Log } from './log.ts'
import { createMetering } from './metering/index.ts'
import { createMetrics } from './metrics/index.ts'
import type { Outbound } from './outbound/index.ts'
import { createOutboundMetrics } from './outbound/metrics.ts'
import type { Process } from './process.ts'
import { type Random, random as systemRandom } from './random.ts'
import { createResources } from './resources.ts'
import { createRetention } from './retention.ts'
import type { Sealing } from './sealing/index.ts'
import { ALONE, type Siblings } from './siblings.ts'
import { createTenants } from './tenants.ts'
import { createTestReceivers } from './test-receiver/index.ts'

export type Platform = ReturnType<typeof createPlatform>

/** The services that all engines share. Each part of the program takes only those that it names. */
export function createPlatform(parts: {
  db: Db
  clock: Clock
  log: Log
  outbound: Outbound
  sealing: Sealing
  keyPrefix: string
  /** The included requests and prices of a month. */
  metering: Config['metering']
  process: Process
  /** The other processes of this server; none by default. */
  siblings?: Siblings
  /** Replaces the random numbers, for tests. */
  random?: Random
}) {
  const { db, clock, log, sealing, keyPrefix, random = systemRandom, siblings = ALONE } = parts
  const audit = createAudit({ db, clock })
  const keys = createKeys({ db, clock, audit, prefix: keyPrefix })
  const tenants = createTenants({ db, clock, audit, onChange: keys.forget })
  const resources = createResources()
  for (const engine of ENGINES)
    resources.add(`${engine}:key`, (tenantId, id) => keys.isOf(tenantId, engine, id))
  const metrics = createMetrics()
  createOutboundMetrics(metrics, parts.outbound)
  const testReceivers = createTestReceivers({ db, clock, sealing, siblings })
  return {
    db,
    clock,
    log,
    outbound: testReceivers.before(parts.outbound),
    testReceivers,
    sealing,
    random,
    siblings,
    alerts: createAlerts({ db, clock }),
    audit,
    tenants,
    branding: createBranding({ db, clock, audit, tenants }),
    keys,
    resources,
    instances: createInstances({ db, clock, process: parts.process, siblings }),
    metrics,
    metering: createMetering({ db, clock, log, audit, metrics, config: parts.metering }),
    retention: createRetention({ db, clock, log }),
  }
}
