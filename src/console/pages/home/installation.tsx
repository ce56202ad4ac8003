import { PAGES } from '../../../../views/layout/navigation.ts'
import { AllQuiet, Events } from '../../../../views/ui/events.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Tiles } from '../../../../views/ui/tiles.tsx'
import { Time, useTimes } from '../../../../views/ui/time.tsx'
import { bytes, counted, numeral } from '../../../../views/ui/words.ts'
import type { ApiKey } from '../../../platform/keys/index.ts'
import type { TenantStatus } from '../../../platform/tenants.ts'
import type { InstallationIssue, InstanceHealth } from '../../instance-health.ts'
import { page, usePage } from '../../page.tsx'
import { ABOUT_BACKUPS, depth, eventOf, sentenceOn } from '../installation/health.tsx'
import { keyEvent } from './alerts.tsx'

interface InstallationView {
  health: InstanceHealth
  tenants: Record<TenantStatus, number>
  /** Keys of the installation that expire within a week. */
  keys: readonly ApiKey[]
}

const MAX_KEYS = 5

/** Overview of the installation. */
export const installationOverviewPage = page({
  path: '',
  section: 'overview',
  right: 'admin',
  title: 'Overview',

  load: ({ instanceHealth, tenants, keys }): InstallationView => ({
    keys: keys.expiring(null, MAX_KEYS),
    health: instanceHealth.read(),
    tenants: tenants.counts(),
  }),

  view({ health, tenants, keys }) {
    const { config, href, now } = usePage()
    const { relative } = useTimes()
    const { backups, issues, queues, mail } = health
    const readyCount = queues.reduce((sum, queue) => sum + queue.readyCount, 0)
    const inArrears = tenants.suspended + tenants.renewal_unpaid
    return (
      <>
        <PageHead title={<Text text={config.brand.name} limit={64} />} state={sentenceOn(health)} />
        <Tiles
          label="Summary"
          tiles={[
            {
              label: 'Active tenants',
              value: numeral(tenants.active),
              compared: {
                text: inArrears === 0 ? 'None suspended' : `${numeral(inArrears)} suspended`,
              },
              href: href(PAGES.tenants.path),
            },
            {
              label: 'Backlog',
              value: depth(readyCount),
              compared: { text: 'Runs and deliveries' },
              href: href(PAGES.health.path),
            },
            {
              label: 'Queued emails',
              value: depth(mail.ready + mail.waiting),
              compared: {
                text: mail.server === null ? 'No mail server' : 'Waiting for the mail server',
              },
              href: href(PAGES.mail.path),
            },
            {
              label: 'Last backup',
              value: backups.last?.endedAt ? relative(backups.last.endedAt) : 'Never',
              compared: { text: `${bytes(health.freeBytes)} of disk space free` },
              href: href(PAGES.health.path),
            },
          ]}
        />
        <Section
          id="attention"
          title="Needs attention"
          aside={<a href={href(PAGES.alerts.path)}>View alerts</a>}
          isCard
        >
          {issues.length + keys.length === 0 ? (
            <AllQuiet />
          ) : (
            <Events
              label="Needs attention"
              events={[
                ...issues.map((issue) => withAction(issue)),
                ...keys.map((key) => keyEvent(href(`/keys/${key.id}`), key, now)),
              ]}
            />
          )}
        </Section>
        <Section id="process" title="Process" isCard>
          <p class="hint">
            Version {health.version}, started <Time at={health.startedAt} />.{' '}
            {counted(health.processes.length, 'process', 'processes')} running on this data
            directory.
          </p>
        </Section>
      </>
    )
  },
})

/** A problem with a link to the page that has the button against it. */
function withAction(issue: InstallationIssue) {
  const { href, now } = usePage()
  return {
    ...eventOf(issue, '', now),
    aside: (
      <LinkButton href={href(PAGES.health.path)} isSmall>
        {ABOUT_BACKUPS.has(issue.what) ? 'Back up' : 'View'}
      </LinkButton>
    ),
  }
}

/** Problems of the installation, on the overview of a tenant for admins. */
export function InstallationIssues() {
  const { operator, instanceHealth } = usePage()
  const issues = operator.isAdmin ? instanceHealth.read().issues : []
  if (issues.length === 0) return null
  return (
    <Section id="installation" title="Installation" note="Visible to admins only." isCard>
      <Events
        label="Problems of the installation"
        events={issues.map((issue) => withAction(issue))}
      />
    </Section>
  )
}
