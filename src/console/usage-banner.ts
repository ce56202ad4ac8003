import type { BannerProps } from '../../views/console/banner.tsx'
import type { Nearness } from '../platform/metering/index.ts'

/**
 * Over every page of a tenant that nears the end of its month: one sentence, on what comes first to
 * its end. Half of a month used up is told by event, and is nothing to see on each page.
 */
export function usageBanner(base: string, nearness: Nearness): BannerProps | undefined {
  const { left_requests: left, resets_at: resetsAt } = nearness
  const action = { label: 'See usage', href: `${base}/console/usage` }
  const end = `Nothing new is taken in before ${resetsAt.slice(0, 10)}.`
  if (left === 0) return { tone: 'bad', children: `${endOf(nearness)} ${end}`, action }
  const warning = warningOn(nearness)
  return warning === undefined ? undefined : { tone: 'warn', children: warning, action }
}

const endOf = ({ plan }: Nearness): string =>
  plan === 'metered'
    ? 'The included requests and the spend cap of this month are used up.'
    : 'The included requests of this month are used up.'

function warningOn({ plan, reached }: Nearness): string | undefined {
  if (plan === 'unlimited') return undefined
  if (plan === 'metered' && reached.spend_cap >= 80)
    return '80 % of the spend cap of this month is used.'
  if (reached.allowance === 100)
    return 'The included requests of this month are used up. Each further one costs.'
  if (reached.allowance === 80) return '80 % of the included requests of this month are used.'
  return undefined
}
