import type { Clockwork } from '../engines/clockwork/index.ts'
import type { Audit } from '../platform/audit/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { CallerOf } from './callers.ts'
import type { Layout } from './layout.ts'
import type { ConsoleMiddleware } from './middleware.ts'

/** What pages work with. */
export interface Services {
  clockwork: Clockwork
  audit: Audit
  clock: Clock
  callerOf: CallerOf
  baseUrl: () => string
  layout: Layout
  middleware: ConsoleMiddleware
}
