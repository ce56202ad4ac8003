import { isoTime } from '../../platform/clock.ts'
import type { Metering } from '../../platform/metering/index.ts'
import { endOfMonth } from '../../platform/metering/months.ts'
import type { Messages } from './messages.ts'

/** Sends tenants an event when half, most or all of the monthly quota is used. */
export function announceUsage(metering: Metering, messages: Messages) {
  metering.onNotice(({ tenantId, month, measure, percent, used, limit, costCents }) =>
    messages.announce({
      tenantId,
      type: 'usage.threshold',
      about: `usage:${month}`,
      payload: {
        month,
        measure,
        percent,
        used_requests: used,
        limit_requests: limit,
        cost_cents: costCents,
        resets_at: isoTime(endOfMonth(month)),
      },
    }),
  )
}
