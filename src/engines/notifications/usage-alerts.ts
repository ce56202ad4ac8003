import type { Alerts } from '../../platform/alerts/index.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { Metering, Notice } from '../../platform/metering/index.ts'
import type { Tenants } from '../../platform/tenants.ts'

/** Below this share, usage is no problem. */
const MIN_PERCENT = 80

const MEASURES = { allowance: 'monthly allowance', spend_cap: 'spend cap' } as const

/** Opens an alert when a tenant has used most or all of its allowance or spend cap, once each. */
export function watchUsage(parts: { metering: Metering; alerts: Alerts; tenants: Tenants }) {
  const { metering, alerts, tenants } = parts

  function opened({ tenantId, month, measure, percent, used, limit }: Notice) {
    if (percent < MIN_PERCENT) return
    const isRefusing = percent === 100 && (measure === 'spend_cap' || isFree(tenantId))
    const refused = isRefusing ? ' Further requests are refused until next month.' : ''
    alerts.open({
      tenantId,
      kind: measure === 'spend_cap' && percent === 100 ? 'spend_cap.reached' : 'usage.threshold',
      subject: `usage:${month}:${measure}:${percent}`,
      name: `${percent}% of the ${MEASURES[measure]}`,
      text: `${used} of ${limit} requests of ${month}.${refused}`,
      path: '/usage',
      severity: isRefusing ? 'critical' : 'warning',
      closesAfterMs: DAY_MS,
    })
  }

  const isFree = (tenantId: string) => tenants.find(tenantId).plan === 'free'

  metering.onNotice(opened)
}
