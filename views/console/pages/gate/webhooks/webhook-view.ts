import type { EventType } from '../../../../../src/engines/gate/webhooks/events.ts'
import type { Webhook } from '../../../../../src/engines/gate/webhooks/model.ts'
import type { Fields } from '../../../../../src/http/body.ts'
import type { Delivery, TestResult } from '../../../../../src/http/delivery-log/model.ts'
import type { Page } from '../../../../../src/platform/cursor.ts'
import type { FormError } from '../../../form/error-summary.tsx'
import type { HourTally } from '../../../hours.ts'
import type { ListPosition } from '../../../list-position.ts'

export interface WebhookView {
  base: string
  now: number
  webhook: Webhook
  latest: Delivery | undefined
  deliveries: Page<Delivery>
  hours: readonly HourTally[]
  filters: { status: 'failed' | undefined }
  position: ListPosition
  mayChange: boolean
  mayDelete: boolean
  /** Result of a test event, and its type. */
  test?: TestResult
  tested?: EventType
  values?: Fields
  errors?: readonly FormError[]
}
