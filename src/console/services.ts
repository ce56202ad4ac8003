import type { Clockwork } from '../engines/clockwork/index.ts'
import type { Gate } from '../engines/gate/index.ts'
import type { Audit } from '../platform/audit/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Keys } from '../platform/keys.ts'
import type { Metering } from '../platform/metering/index.ts'
import type { Tenants } from '../platform/tenants.ts'
import type { CallerOf } from './callers.ts'
import type { Layout } from './layout.ts'
import type { ConsoleMiddleware } from './middleware.ts'
import type { Operators } from './operators/index.ts'

/** What pages work with. */
export interface Services {
  clockwork: Clockwork
  audit: Audit
  clock: Clock
  keys: Keys
  metering: Metering
  tenants: Tenants
  operators: Operators
  gate: Gate
  callerOf: CallerOf
  baseUrl: () => string
  layout: Layout
  middleware: ConsoleMiddleware
}
