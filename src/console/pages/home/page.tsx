import type { ComponentChildren, VNode } from 'preact'
import { PAGES } from '../../../../views/console/layout/navigation.ts'
import { PageHead } from '../../../../views/console/page-head.tsx'
import { LiveSource } from '../../../../views/console/pages/live-source.tsx'
import { Columns, Section } from '../../../../views/console/section.tsx'
import { Text } from '../../../../views/console/text.tsx'
import type { Tone } from '../../../../views/console/tone.ts'
import { url } from '../../../../views/console/url.ts'
import { counted, listed } from '../../../../views/console/words.ts'
import { Alerts, failingIn, type TenantIssues } from './alerts-view.tsx'
import { type Activity, Feed } from './feed-view.tsx'
import { GetStarted } from './get-started.tsx'
import { type Today, TodayTiles } from './tiles.tsx'
import { type UpcomingRun, UpcomingRuns } from './upcoming-runs-view.tsx'

/** Content of a tenant's overview. */
export interface OverviewProps {
  base: string
  apiUrl: string
  tenantName: string
  hasKey: boolean
  mayMakeKeys: boolean
  mayChange: boolean
  /** Nothing has been set up and nothing has happened. */
  isFresh: boolean
  today: Today
  issues: TenantIssues
  upcoming: readonly UpcomingRun[]
  activity: readonly Activity[]
  now: number
}

/** Live parts of the page, by element ID. */
export const OVERVIEW_PARTS = {
  'overview-head': (overview: OverviewProps) => <Head {...overview} />,
  'overview-top': (overview: OverviewProps) => <Top {...overview} />,
  'overview-next': (overview: OverviewProps) => <UpcomingRuns {...overview} />,
  'overview-feed': (overview: OverviewProps) => <Feed {...overview} />,
} satisfies Record<string, (overview: OverviewProps) => VNode>

/** Overview of a tenant: state, today's numbers, problems, upcoming runs and latest activity. */
export const OverviewPage = (page: {
  overview: OverviewProps
  live: { href: string; shownId: string }
  /** Problems of the installation, for admins. */
  installation: ComponentChildren
}) => (
  <>
    <LiveSource {...page.live} />
    <Part id="overview-head" overview={page.overview} />
    <Part id="overview-top" overview={page.overview} />
    {page.installation}
    <Columns>
      <Section id="next" title="Upcoming runs" isCard>
        <Part id="overview-next" overview={page.overview} />
      </Section>
      <Section id="latest" title="Latest activity" note="Updates live." isCard>
        <Part id="overview-feed" overview={page.overview} />
      </Section>
    </Columns>
  </>
)

const Part = ({ id, overview }: { id: keyof typeof OVERVIEW_PARTS; overview: OverviewProps }) => (
  <div id={id} class="livepart">
    {OVERVIEW_PARTS[id](overview)}
  </div>
)

const Head = (overview: OverviewProps) => (
  <PageHead title={<Text text={overview.tenantName} limit={64} />} state={stateOf(overview)} />
)

function stateOf({ base, isFresh, today, issues }: OverviewProps): {
  tone: Tone
  sentence: ComponentChildren
} {
  if (isFresh)
    return { tone: 'quiet', sentence: 'Your tenant is ready. Start with any of these steps.' }
  const failing = failingIn(issues)
  if (failing > 0) return { tone: 'bad', sentence: <Failing base={base} issues={issues} /> }
  if (issues.bots.length > 0 || issues.usage)
    return { tone: 'warn', sentence: 'Everything is running, but something needs attention.' }
  const { active } = today.jobs
  return {
    tone: 'good',
    sentence:
      active === 0
        ? 'No problems'
        : `No problems: no failures in ${counted(active, 'job')}, no failing endpoints`,
  }
}

const Failing = ({ base, issues }: Pick<OverviewProps, 'base' | 'issues'>) => {
  const { endpoints, webhooks, jobs } = issues
  const kinds = [
    { count: endpoints.length, noun: 'endpoint', page: PAGES.endpoints.path },
    { count: webhooks.length, noun: 'webhook', page: PAGES.webhooks.path },
    { count: jobs.length, noun: 'job', page: PAGES.jobs.path },
  ].filter(({ count }) => count > 0)
  const [only] = kinds
  const text = listed(kinds.map(({ count, noun }) => counted(count, noun)))
  const verb = failingIn(issues) === 1 ? 'is' : 'are'
  return (
    <>
      {kinds.length === 1 && only ? <a href={url(base, only.page)}>{text}</a> : text} {verb}{' '}
      failing.
    </>
  )
}

const Top = (overview: OverviewProps) =>
  overview.isFresh ? (
    <GetStarted {...overview} />
  ) : (
    <>
      <TodayTiles base={overview.base} today={overview.today} />
      <Section id="attention" title="Needs attention" isCard>
        <Alerts {...overview} />
      </Section>
    </>
  )
