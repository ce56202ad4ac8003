import { ENGINES, type Engine } from '../../../src/platform/engines.ts'
import type { Usage } from '../../../src/platform/metering/index.ts'
import { Sparkline } from '../charts/sparkline.tsx'
import { CurlBlock } from '../curl-block.tsx'
import { LinkButton } from '../form/button.tsx'
import { PAGES, type PageKey } from '../frame/navigation.ts'
import { PageHead } from '../page-head.tsx'
import { Columns, Section } from '../section.tsx'
import { Text } from '../text.tsx'
import { Tiles } from '../tiles.tsx'
import { url } from '../url.ts'

/** An engine as its tile says it, and the page that one goes to from there. */
const OF_ENGINE: Record<Engine, { label: string; page: PageKey }> = {
  gate: { label: 'Gate', page: 'identities' },
  clockwork: { label: 'Clockwork', page: 'jobs' },
  passepartout: { label: 'Passepartout', page: 'logins' },
  relay: { label: 'Relay', page: 'messages' },
}

/** What a tenant's programs have asked for this month, and the next step where they have not yet. */
export const OverviewPage = (page: {
  base: string
  apiUrl: string
  tenantName: string
  usage: Usage
  hasKey: boolean
  mayMakeKeys: boolean
}) => (
  <>
    <PageHead
      title={<Text text={page.tenantName} limit={64} />}
      state={{ sentence: sentenceOn(page.usage) }}
      action={
        <LinkButton href={url(page.base, PAGES.usage.path)}>
          {page.usage.left_requests === null ? 'Usage' : 'Usage and what is left'}
        </LinkButton>
      }
    />
    <Tiles
      label="Requests this month"
      tiles={ENGINES.map((engine) => tileOf(page.base, page.usage, engine))}
    />
    {!page.hasKey && <FirstKey {...page} />}
    <Columns>
      <Section id="begin" title="Begin" isCard>
        <ul class="plainlist">
          <Step base={page.base} page="jobs" text="Call a URL by the clock" />
          <Step base={page.base} page="endpoints" text="Have events delivered to an endpoint" />
          <Step base={page.base} page="signIn" text="Choose how people sign in" />
          <Step base={page.base} page="bots" text="Sign people in by a messenger" />
          <Step base={page.base} page="team" text="Invite a colleague" />
        </ul>
      </Section>
      <Section id="api" title="From a terminal" isCard>
        <CurlBlock
          title="Jobs of this tenant"
          url={`${page.apiUrl}/v1/clockwork/jobs`}
          headers={{ Authorization: 'Bearer $KEY' }}
        />
      </Section>
    </Columns>
  </>
)

const Step = ({ base, page, text }: { base: string; page: PageKey; text: string }) => (
  <li>
    <a href={url(base, PAGES[page].path)}>{text}</a>
  </li>
)

const FirstKey = ({ base, mayMakeKeys }: { base: string; mayMakeKeys: boolean }) => (
  <Section
    id="first-key"
    title="No key yet"
    note="Programs get in with keys. The first one comes with a command that works at once."
    aside={
      mayMakeKeys ? (
        <LinkButton weight="primary" href={url(base, '/console/keys/new')}>
          New key
        </LinkButton>
      ) : undefined
    }
    isCard
  >
    {mayMakeKeys ? null : <p class="hint">An owner of the tenant makes it.</p>}
  </Section>
)

function sentenceOn({ requests, left_requests: left }: Usage): string {
  const sofar = `${count(requests)} ${requests === 1 ? 'request' : 'requests'} this month`
  return left === null ? `${sofar}.` : `${sofar}, ${count(left)} left for new work.`
}

function tileOf(base: string, { days, month }: Usage, engine: Engine) {
  const { label, page } = OF_ENGINE[engine]
  const values = byDay(
    days.filter((day) => day.engine === engine),
    month,
  )
  const total = values.reduce((sum, value) => sum + value, 0)
  return {
    label,
    value: count(total),
    href: url(base, PAGES[page].path),
    picture: (
      <Sparkline
        values={values}
        label={`Requests to ${label} by day, ${count(total)} this month`}
      />
    ),
  }
}

/** Of each day of the month up to the last on which anything came. */
function byDay(days: Usage['days'], month: string): number[] {
  const last = Math.max(1, ...days.map(({ day }) => Number(day.slice(8))))
  const values = Array.from({ length: last }, () => 0)
  for (const { day, requests } of days)
    if (day.startsWith(month)) add(values, Number(day.slice(8)) - 1, requests)
  return values
}

const add = (values: number[], at: number, more: number) => {
  values[at] = (values[at] ?? 0) + more
}

const count = (number: number): string => number.toLocaleString('en')

/** For somebody who has no part in any tenant, or none any more in the one that they chose. */
export const NowherePage = ({ base, hasOthers }: { base: string; hasOthers: boolean }) => (
  <>
    <PageHead
      title="No tenant here"
      state={{
        tone: 'warn',
        sentence: hasOthers
          ? 'You have no part any more in the tenant that you chose. Choose another one at the top left.'
          : 'You belong to no tenant. Ask an owner of one to invite you.',
      }}
    />
    <LinkButton href={url(base, '/console/account')}>Your account</LinkButton>
  </>
)

/** For whoever runs the installation. */
export const InstallationPage = ({ base, name }: { base: string; name: string }) => (
  <>
    <PageHead
      title="Installation"
      state={{
        sentence: (
          <>
            You act for <Text text={name} limit={64} />, not in a tenant.
          </>
        ),
      }}
    />
    <Section id="places" title="Go to" isCard>
      <ul class="plainlist">
        <Step base={base} page="tenants" text="Tenants, their plans and bills" />
        <Step base={base} page="health" text="How the installation is" />
        <Step base={base} page="mail" text="Mails that went out, or did not" />
        <Step base={base} page="configuration" text="The configuration in force" />
      </ul>
    </Section>
  </>
)
