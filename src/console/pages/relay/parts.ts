import type { Db } from '../../../db/open.ts'
import type { Delivery } from '../../../delivery/index.ts'
import type { Relay } from '../../../engines/relay/index.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Layout } from '../../layout.ts'
import type { LiveAnswers } from '../../live/answers.ts'
import type { ConsoleMiddleware } from '../../middleware.ts'
import type { RelayContexts } from './context.ts'

/** The dependencies of the webhooks pages. */
export interface RelayParts {
  middleware: ConsoleMiddleware
  layout: Layout
  db: Db
  audit: Audit
  clock: Clock
  baseUrl: () => string
  relay: Relay
  delivery: Delivery
  liveAnswers: LiveAnswers
  contextOf: RelayContexts
}
