import type { Db } from '../../../db/open.ts'
import type { Delivery } from '../../../delivery/index.ts'
import type { Relay } from '../../../engines/relay/index.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Frames } from '../../frame.ts'
import type { ConsoleKit } from '../../kit.ts'
import type { LiveAnswers } from '../../live/answers.ts'
import type { RelayVisits } from './visit.ts'

/** What the pages of the event relay are made with. */
export interface RelayParts {
  kit: ConsoleKit
  frames: Frames
  db: Db
  audit: Audit
  clock: Clock
  baseUrl: () => string
  relay: Relay
  delivery: Delivery
  liveAnswers: LiveAnswers
  visited: RelayVisits
}
