import { PAGES } from '../../../../views/layout/navigation.ts'
import { AllQuiet, type Event, Events } from '../../../../views/ui/events.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { minuteIn, Time } from '../../../../views/ui/time.tsx'
import { counted, numeral, withoutScheme } from '../../../../views/ui/words.ts'
import type { FailingEndpoint } from '../../../delivery/queries.ts'
import type { MonitorSummary } from '../../../engines/clockwork/monitors/queries.ts'
import type { FailingJob } from '../../../engines/clockwork/queries.ts'
import type { Bot } from '../../../engines/passepartout/index.ts'
import type { ApiKey } from '../../../platform/keys/index.ts'
import type { Nearness } from '../../../platform/metering/index.ts'
import { type PageContext, usePage } from '../../page.tsx'
import { usageBanner } from '../../usage-banner.ts'

/** Problems of a tenant, by kind. */
export interface TenantIssues {
  endpoints: readonly FailingEndpoint[]
  webhooks: readonly FailingEndpoint[]
  jobs: readonly FailingJob[]
  monitors: readonly MonitorSummary[]
  /** Bots that are set up but can't sign users in. */
  bots: readonly Bot[]
  /** Keys that expire within a week, for operators who manage keys. */
  keys: readonly ApiKey[]
  /** Set if 80% of the month's allowance or more is used. */
  usage: Nearness | undefined
}

/** Problems that members can fix. Jobs, users and usage are in the live environment only. */
export function issuesOf(context: PageContext): TenantIssues {
  const { delivery, clockwork, passepartout, metering, tenantId, environment } = context
  const isLive = environment === 'live'
  const nearness = metering.nearnessOf(tenantId)
  return {
    endpoints: delivery.queries.failing({ tenantId, name: `relay.${environment}` }),
    webhooks: isLive ? delivery.queries.failing({ tenantId, name: 'gate.live' }) : [],
    jobs: isLive ? clockwork.queries.failing(tenantId) : [],
    monitors: isLive ? clockwork.queries.monitors.down(tenantId) : [],
    bots: passepartout.bots
      .list(tenantId)
      .filter((bot) => bot.environment === environment && needsAttention(bot)),
    keys: expiringKeys(context),
    usage: isLive && isNearLimit(nearness) ? nearness : undefined,
  }
}

const expiringKeys = ({ keys, tenantId, environment, may }: PageContext): ApiKey[] =>
  may('keys')
    ? keys.expiring(tenantId, MAX_KEYS).filter((key) => (key.environment ?? 'live') === environment)
    : []

/** Bots without a token were never set up, or were removed on purpose. */
const needsAttention = ({ status, issue, token }: Bot): boolean =>
  status === 'disabled' ? token !== null : status !== 'not_configured' && issue !== null

const isNearLimit = ({ plan, reached, left_requests: left }: Nearness): boolean =>
  plan !== 'unlimited' && (left === 0 || Math.max(reached.allowance, reached.spend_cap) >= 80)

/** Number of failing endpoints, webhooks and jobs, and of monitors that are down. */
export const failingIn = ({ endpoints, webhooks, jobs, monitors }: TenantIssues): number =>
  endpoints.length + webhooks.length + jobs.length + monitors.length

const MAX_KEYS = 100
/** Most problems of one kind. */
const SHOWN = 4
const MAX_NAME_LENGTH = 64
const MAX_REASON_LENGTH = 160

/** Problems of a tenant, each with an action. */
export const Alerts = ({ issues }: { issues: TenantIssues }) => {
  const events = eventsOf(issues, usePage())
  return events.length === 0 ? <AllQuiet /> : <Events label="Needs attention" events={events} />
}

type Links = Pick<PageContext, 'href' | 'now' | 'zone' | 'may'>

function eventsOf(
  { endpoints, webhooks, jobs, monitors, bots, keys, usage }: TenantIssues,
  { href, now, zone, may }: Links,
): Event[] {
  return [
    ...some(endpoints, (one) => endpointEvent(href(`/endpoints/${one.id}`), one, now), {
      one: 'endpoint needs attention',
      many: 'endpoints need attention',
      href: href(PAGES.endpoints.path),
    }),
    ...some(webhooks, (one) => endpointEvent(href(`/webhooks/${one.id}`), one, now), {
      one: 'webhook needs attention',
      many: 'webhooks need attention',
      href: href(PAGES.webhooks.path),
    }),
    ...some(jobs, (job) => jobEvent(href(`/jobs/${job.id}`), job, now), {
      one: 'job is failing',
      many: 'jobs are failing',
      href: href(PAGES.jobs.path, { state: 'failing' }),
    }),
    ...some(monitors, (monitor) => monitorEvent(href(`/monitors/${monitor.id}`), monitor, now), {
      one: 'monitor is down',
      many: 'monitors are down',
      href: href(PAGES.monitors.path, { state: 'down' }),
    }),
    ...bots.map((bot) => botEvent(href('/bots'), bot, may('change'))),
    ...some(keys, (key) => keyEvent(href(`/keys/${key.id}`), key, now), {
      one: 'API key expires soon',
      many: 'API keys expire soon',
      href: href('/keys'),
    }),
    ...usageEvents({ href, zone }, usage),
  ]
}

/** The first problems of a kind, and a link to the others. */
function some<Row>(
  rows: readonly Row[],
  draw: (row: Row) => Event,
  rest: { one: string; many: string; href: string },
): Event[] {
  const events = rows.slice(0, SHOWN).map(draw)
  const left = rows.length - events.length
  if (left === 0) return events
  const title = <a href={rest.href}>{counted(left, `more ${rest.one}`, `more ${rest.many}`)}</a>
  return [
    ...events,
    { tone: 'bad', title, aside: <AlertLink href={rest.href}>View all</AlertLink> },
  ]
}

const AlertLink = ({ href, children = 'View' }: { href: string; children?: string }) => (
  <LinkButton href={href} isSmall>
    {children}
  </LinkButton>
)

function endpointEvent(href: string, endpoint: FailingEndpoint, now: number): Event {
  const { url: address, failingSince, failedAttempts, disabledReason } = endpoint
  const name = (
    <a href={href}>
      <Text text={withoutScheme(address)} limit={MAX_NAME_LENGTH} />
    </a>
  )
  if (disabledReason !== null || failingSince === null)
    return {
      tone: 'bad',
      title: <>{name} is disabled</>,
      text:
        disabledReason === 'gone'
          ? 'It returned 410 Gone. Deliveries are held until you resume it.'
          : 'It failed for too long. Deliveries are held until you resume it.',
      aside: <AlertLink href={`${href}#danger`}>Resume</AlertLink>,
    }
  return {
    tone: 'bad',
    title: <>{name} is failing</>,
    text: (
      <>
        {counted(failedAttempts ?? 0, 'failed attempt')}, the first{' '}
        <Time at={failingSince} now={now} />. Deliveries are retried automatically.
      </>
    ),
    aside: <AlertLink href={href} />,
  }
}

function jobEvent(href: string, job: FailingJob, now: number): Event {
  return {
    tone: 'bad',
    title: (
      <>
        <a href={href}>
          <Text text={job.name} limit={MAX_NAME_LENGTH} />
        </a>{' '}
        failed <Time at={job.startedAt} now={now} />
      </>
    ),
    text: <Reason {...job} />,
    aside: <AlertLink href={href} />,
  }
}

const monitorEvent = (href: string, monitor: MonitorSummary, now: number): Event => ({
  tone: 'bad',
  title: (
    <>
      <a href={href}>
        <Text text={monitor.name} limit={MAX_NAME_LENGTH} />
      </a>{' '}
      went down <Time at={monitor.stateSince} now={now} />
    </>
  ),
  text:
    monitor.lastPingAt === null ? (
      'No ping yet.'
    ) : (
      <>
        Last ping <Time at={monitor.lastPingAt} now={now} />.
      </>
    ),
  aside: <AlertLink href={href} />,
})

/** Reason of a failed attempt. */
function Reason(of: { responseStatus: number | null; errorMessage: string | null }) {
  const { responseStatus, errorMessage } = of
  if (errorMessage !== null) return <Text text={errorMessage} limit={MAX_REASON_LENGTH} />
  return responseStatus === null ? 'No response' : `Status ${responseStatus}`
}

function botEvent(
  href: string,
  { environment, username, status, issue }: Bot,
  mayChange: boolean,
): Event {
  const name = (
    <a href={href}>
      {username === null ? `The ${environment} bot` : <Text text={`@${username}`} />}
    </a>
  )
  if (status === 'disabled')
    return {
      tone: 'warn',
      title: <>{name} is not enabled</>,
      text: "It has a token, but users can't sign in with it.",
      aside: mayChange ? (
        <ActionButton isSmall action={`${href}/enable`}>
          Enable
        </ActionButton>
      ) : (
        <AlertLink href={href} />
      ),
    }
  return {
    tone: 'bad',
    title: <>{name} doesn't receive messages</>,
    text: <Text text={`${issue ?? ''}.`} limit={MAX_REASON_LENGTH} />,
    aside: <AlertLink href={href}>Fix</AlertLink>,
  }
}

/** A key that expires soon. */
export function keyEvent(href: string, key: ApiKey, now: number): Event {
  return {
    tone: 'warn',
    title: (
      <>
        API key{' '}
        <a href={href}>
          <Text text={key.name ?? key.hint} limit={MAX_NAME_LENGTH} />
        </a>{' '}
        expires <Time at={Date.parse(key.expires_at ?? '')} now={now} />
      </>
    ),
    text: (
      <>
        {key.last_used_at === null ? (
          'Never used.'
        ) : (
          <>
            Last used <Time at={Date.parse(key.last_used_at)} now={now} />.
          </>
        )}{' '}
        {key.lifetime_ms === null
          ? 'Extend it, or apps that use it fail with 401.'
          : 'Rotate it, or apps that use it fail with 401.'}
      </>
    ),
    aside: (
      <AlertLink href={key.lifetime_ms === null ? `${href}/edit` : href}>
        {key.lifetime_ms === null ? 'Extend' : 'Rotate'}
      </AlertLink>
    ),
  }
}

function usageEvents(
  { href, zone }: Pick<Links, 'href' | 'zone'>,
  usage: TenantIssues['usage'],
): Event[] {
  const banner = usage && usageBanner({ href, zone }, usage)
  if (!usage || !banner) return []
  const { left_requests: left, resets_at: resetsAt } = usage
  return [
    {
      tone: banner.tone,
      title: banner.children,
      text:
        left === null
          ? undefined
          : `${numeral(left)} requests left until ${minuteIn(Date.parse(resetsAt), zone)}.`,
      aside: <AlertLink href={href(PAGES.usage.path)}>View usage</AlertLink>,
    },
  ]
}
