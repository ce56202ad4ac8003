import type { EventType } from '../../../../../src/engines/gate/webhooks/events.ts'
import type { Webhook } from '../../../../../src/engines/gate/webhooks/model.ts'
import type { Fields } from '../../../../../src/http/body.ts'
import type { Delivery, TestResult } from '../../../../../src/http/delivery-log/model.ts'
import type { Page } from '../../../../../src/platform/cursor.ts'
import type { FormError } from '../../../form/error-summary.tsx'
import type { HourTally } from '../../../hours.ts'
import type { ListPosition } from '../../../trail.ts'

export interface WebhookView {
  base: string
  now: number
  webhook: Webhook
  latest: Delivery | undefined
  deliveries: Page<Delivery>
  hours: readonly HourTally[]
  asked: { status: 'failed' | undefined }
  position: ListPosition
  mayChange: boolean
  mayDelete: boolean
  /** Result of a test event, and its type. */
  test?: TestResult
  tested?: EventType
  typed?: Fields
  errors?: readonly FormError[]
}
