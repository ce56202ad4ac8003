import type { BannerProps } from '../../views/ui/banner.tsx'
import { minuteIn } from '../../views/ui/time.tsx'
import type { Nearness } from '../platform/metering/index.ts'

/** Banner on every page of a tenant that has used 80% or more of its allowance or spend cap. */
export function usageBanner(
  { href, zone }: { href: (path: string) => string; zone: string },
  nearness: Nearness,
): BannerProps | undefined {
  const { left_requests: left, resets_at: resetsAt } = nearness
  const action = { label: 'View usage', href: href('/usage') }
  const end = `Requests that create something are rejected until ${minuteIn(Date.parse(resetsAt), zone)}.`
  if (left === 0) return { tone: 'bad', children: `${endOf(nearness)} ${end}`, action }
  const warning = warningOn(nearness)
  return warning === undefined ? undefined : { tone: 'warn', children: warning, action }
}

const endOf = ({ plan }: Nearness): string =>
  plan === 'metered'
    ? "You've used all included requests and the spend cap of this month."
    : "You've used all included requests of this month."

function warningOn({ plan, reached }: Nearness): string | undefined {
  if (plan === 'unlimited') return undefined
  if (plan === 'metered' && reached.spend_cap >= 80)
    return "You've used 80% of this month's spend cap."
  if (reached.allowance === 100)
    return "You've used all included requests of this month. Further requests are billed."
  if (reached.allowance === 80) return "You've used 80% of this month's included requests."
  return undefined
}
