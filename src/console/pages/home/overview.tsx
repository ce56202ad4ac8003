import type { ComponentChildren } from 'preact'
import { PAGES } from '../../../../views/layout/navigation.ts'
import { Columns, PageHead, Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { counted, listed } from '../../../../views/ui/words.ts'
import type { JobCounts } from '../../../engines/clockwork/queries.ts'
import { type LivePart, type PageContext, page, usePage } from '../../page.tsx'
import { Alerts, failingIn, issuesOf, type TenantIssues } from './alerts.tsx'
import { Checklist } from './checklist.tsx'
import type { Today } from './day-counts.ts'
import { type Activity, Feed, latestActivity } from './feed.tsx'
import { InstallationIssues } from './installation.tsx'
import { TodayTiles } from './tiles.tsx'
import { type UpcomingRun, UpcomingRuns, upcomingRuns } from './upcoming-runs.tsx'

interface Overview {
  /** Nothing has been set up and nothing has happened. */
  isFresh: boolean
  today: Today
  /** Jobs and their runs are undefined in the test environment, which has none. */
  jobs: JobCounts | undefined
  upcoming: readonly UpcomingRun[] | undefined
  issues: TenantIssues
  activity: readonly Activity[]
}

/** Overview of a tenant: state, today's numbers, problems, upcoming runs and latest activity. */
export const overviewPage = page({
  path: '',
  section: 'overview',
  hasEnvironments: true,
  right: 'read',
  title: 'Overview',

  load(context): Overview {
    const { clockwork, tenantId, environment, now, rarely } = context
    const { hasEndpoint, ...known } = rarely(() => countsOf(context))
    const isLive = environment === 'live'
    const upcoming = isLive ? upcomingRuns(clockwork, tenantId, now) : undefined
    const activity = latestActivity(context)
    const isUsed = [activity.length, upcoming?.length, known.jobs?.all, known.monitors].some(
      Boolean,
    )
    // An empty test environment says nothing about the tenant.
    return { ...known, isFresh: isLive && !isUsed && !hasEndpoint, upcoming, activity }
  },

  view(overview) {
    const parts = partsOf(overview)
    return (
      <>
        <Part id="overview-head" parts={parts} />
        <Checklist isFresh={overview.isFresh} />
        <Part id="overview-top" parts={parts} />
        <InstallationIssues />
        <Columns>
          {overview.upcoming && (
            <Section id="next" title="Upcoming runs" isCard>
              <Part id="overview-next" parts={parts} />
            </Section>
          )}
          <Section id="latest" title="Latest activity" note="Updates live." isCard>
            <Part id="overview-feed" parts={parts} />
          </Section>
        </Columns>
      </>
    )
  },

  live: partsOf,
})

/** Counts for which the database reads many rows. */
function countsOf(context: PageContext) {
  const { clockwork, delivery, dayCounts, tenantId, environment } = context
  const stream = { tenantId, name: `relay.${environment}` } as const
  return {
    issues: issuesOf(context),
    today: dayCounts.of(tenantId, environment),
    jobs: environment === 'live' ? clockwork.queries.jobCounts(tenantId) : undefined,
    monitors: environment === 'live' ? clockwork.queries.monitors.list(tenantId).length : 0,
    hasEndpoint: delivery.queries.addresses(stream).length > 0,
  }
}

function partsOf(overview: Overview): Record<string, LivePart> {
  const { upcoming, activity, ...top } = overview
  return {
    'overview-head': { facts: top, view: <Head {...overview} /> },
    'overview-top': { facts: top, view: <Top {...overview} /> },
    ...(upcoming && {
      'overview-next': { facts: upcoming, view: <UpcomingRuns upcoming={upcoming} /> },
    }),
    'overview-feed': { facts: activity, view: <Feed activity={activity} /> },
  }
}

const Part = ({ id, parts }: { id: string; parts: Record<string, LivePart> }) => (
  <div id={id} class="livepart">
    {parts[id]?.view}
  </div>
)

const Head = (overview: Overview) => (
  <PageHead title={<Text text={usePage().tenant.name} limit={64} />} state={stateOf(overview)} />
)

function stateOf({ isFresh, jobs, issues }: Overview): { tone: Tone; sentence: ComponentChildren } {
  if (isFresh) return { tone: 'quiet', sentence: 'Your tenant is ready. Nothing has happened yet.' }
  const failing = failingIn(issues)
  if (failing > 0) return { tone: 'bad', sentence: <Failing issues={issues} /> }
  if (issues.bots.length > 0 || issues.keys.length > 0 || issues.usage)
    return { tone: 'warn', sentence: 'Everything is running, but something needs attention.' }
  const active = jobs ? jobs.all - jobs.paused : 0
  return {
    tone: 'good',
    sentence:
      active === 0
        ? 'No problems'
        : `No problems: no failures in ${counted(active, 'job')}, no failing endpoints`,
  }
}

function Failing({ issues }: Pick<Overview, 'issues'>) {
  const { href } = usePage()
  const { endpoints, webhooks, jobs, monitors } = issues
  const kinds = [
    { count: endpoints.length, noun: 'endpoint', page: PAGES.endpoints.path },
    { count: webhooks.length, noun: 'webhook', page: PAGES.webhooks.path },
    { count: jobs.length, noun: 'job', page: PAGES.jobs.path },
    { count: monitors.length, noun: 'monitor', page: PAGES.monitors.path },
  ].filter(({ count }) => count > 0)
  const [only] = kinds
  const text = listed(kinds.map(({ count, noun }) => counted(count, noun)))
  const verb = failingIn(issues) === 1 ? 'is' : 'are'
  return (
    <>
      {kinds.length === 1 && only ? <a href={href(only.page)}>{text}</a> : text} {verb} failing.
    </>
  )
}

const Top = ({ isFresh, today, issues }: Overview) => {
  const { href } = usePage()
  return isFresh ? null : (
    <>
      <TodayTiles today={today} />
      <Section
        id="attention"
        title="Needs attention"
        aside={<a href={href(PAGES.alerts.path)}>View alerts</a>}
        isCard
      >
        <Alerts issues={issues} />
      </Section>
    </>
  )
}
