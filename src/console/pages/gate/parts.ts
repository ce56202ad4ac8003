import type { Config } from '../../../config/index.ts'
import type { Gate } from '../../../engines/gate/index.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { CallerOf } from '../../callers.ts'
import type { Layout } from '../../layout.ts'
import type { ConsoleMiddleware } from '../../middleware.ts'
import type { Operators } from '../../operators/index.ts'

/** Dependencies of the gate pages. */
export interface GateParts {
  middleware: ConsoleMiddleware
  layout: Layout
  gate: Gate
  clock: Clock
  callerOf: CallerOf
  operators: Operators
  audit: Pick<Audit, 'list'>
  config: Config
  baseUrl: () => string
}

const good = (text: string) => ({ tone: 'good' as const, text })
const warn = (text: string) => ({ tone: 'warn' as const, text })

/** Messages about the result of an action. */
export const flash = { good, warn }
