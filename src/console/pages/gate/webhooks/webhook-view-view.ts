import type { FormError } from '../../../../../views/console/form/error-summary.tsx'
import type { HourTally } from '../../../../../views/console/hours.ts'
import type { ListPosition } from '../../../../../views/console/list-position.ts'
import type { EventType } from '../../../../engines/gate/webhooks/events.ts'
import type { Webhook } from '../../../../engines/gate/webhooks/model.ts'
import type { Fields } from '../../../../http/body.ts'
import type { Delivery, TestResult } from '../../../../http/delivery-log/model.ts'
import type { Page } from '../../../../platform/cursor.ts'

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
