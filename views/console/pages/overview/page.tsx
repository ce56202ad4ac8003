import type { ComponentChildren, VNode } from 'preact'
import { failingIn, type Troubles } from '../../../../src/console/pages/home/alerts.ts'
import type { Coming } from '../../../../src/console/pages/home/coming.ts'
import type { Happening } from '../../../../src/console/pages/home/feed.ts'
import { PAGES } from '../../layout/navigation.ts'
import { PageHead } from '../../page-head.tsx'
import { Columns, Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { counted, listed } from '../../words.ts'
import { LiveSource } from '../live-source.tsx'
import { Attention } from './alerts.tsx'
import { Begin } from './begin.tsx'
import { Feed } from './feed.tsx'
import { Next } from './next.tsx'
import { type Today, TodayTiles } from './tiles.tsx'

/** Content of a tenant's overview. */
export interface Glance {
  base: string
  apiUrl: string
  tenantName: string
  hasKey: boolean
  mayMakeKeys: boolean
  mayChange: boolean
  /** Nothing has been set up and nothing has happened. */
  isFresh: boolean
  today: Today
  troubles: Troubles
  coming: readonly Coming[]
  happenings: readonly Happening[]
  now: number
}

/** Live parts of the page, by element ID. */
export const GLANCE_PARTS = {
  'overview-head': (glance: Glance) => <Head {...glance} />,
  'overview-top': (glance: Glance) => <Top {...glance} />,
  'overview-next': (glance: Glance) => <Next {...glance} />,
  'overview-feed': (glance: Glance) => <Feed {...glance} />,
} satisfies Record<string, (glance: Glance) => VNode>

/** Overview of a tenant: state, today's numbers, problems, upcoming runs and latest activity. */
export const OverviewPage = (page: {
  glance: Glance
  live: { href: string; shownId: string }
  /** Problems of the installation, for admins. */
  installation: ComponentChildren
}) => (
  <>
    <LiveSource {...page.live} />
    <Part id="overview-head" glance={page.glance} />
    <Part id="overview-top" glance={page.glance} />
    {page.installation}
    <Columns>
      <Section id="next" title="Upcoming runs" isCard>
        <Part id="overview-next" glance={page.glance} />
      </Section>
      <Section id="latest" title="Latest activity" note="Updates live." isCard>
        <Part id="overview-feed" glance={page.glance} />
      </Section>
    </Columns>
  </>
)

const Part = ({ id, glance }: { id: keyof typeof GLANCE_PARTS; glance: Glance }) => (
  <div id={id} class="livepart">
    {GLANCE_PARTS[id](glance)}
  </div>
)

const Head = (glance: Glance) => (
  <PageHead title={<Text text={glance.tenantName} limit={64} />} state={stateOf(glance)} />
)

function stateOf({ base, isFresh, today, troubles }: Glance): {
  tone: Tone
  sentence: ComponentChildren
} {
  if (isFresh)
    return { tone: 'quiet', sentence: 'Your tenant is ready. Start with any of these steps.' }
  const failing = failingIn(troubles)
  if (failing > 0) return { tone: 'bad', sentence: <Failing base={base} troubles={troubles} /> }
  if (troubles.bots.length > 0 || troubles.usage)
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

const Failing = ({ base, troubles }: Pick<Glance, 'base' | 'troubles'>) => {
  const { endpoints, webhooks, jobs } = troubles
  const kinds = [
    { count: endpoints.length, noun: 'endpoint', page: PAGES.endpoints.path },
    { count: webhooks.length, noun: 'webhook', page: PAGES.webhooks.path },
    { count: jobs.length, noun: 'job', page: PAGES.jobs.path },
  ].filter(({ count }) => count > 0)
  const [only] = kinds
  const text = listed(kinds.map(({ count, noun }) => counted(count, noun)))
  const verb = failingIn(troubles) === 1 ? 'is' : 'are'
  return (
    <>
      {kinds.length === 1 && only ? <a href={url(base, only.page)}>{text}</a> : text} {verb}{' '}
      failing.
    </>
  )
}

const Top = (glance: Glance) =>
  glance.isFresh ? (
    <Begin {...glance} />
  ) : (
    <>
      <TodayTiles base={glance.base} today={glance.today} />
      <Section id="attention" title="Needs attention" isCard>
        <Attention {...glance} />
      </Section>
    </>
  )
