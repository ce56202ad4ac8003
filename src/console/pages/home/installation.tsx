import { AllQuiet, Events } from '../../../../views/console/events.tsx'
import { ActionButton, Button, LinkButton } from '../../../../views/console/form/button.tsx'
import { LAYOUT_PATHS, PAGES } from '../../../../views/console/layout/navigation.ts'
import { PageHead } from '../../../../views/console/page-head.tsx'
import { ScopedForm } from '../../../../views/console/scope.tsx'
import { Section } from '../../../../views/console/section.tsx'
import { Text } from '../../../../views/console/text.tsx'
import { Tiles } from '../../../../views/console/tiles.tsx'
import { relative, Time } from '../../../../views/console/time.tsx'
import { url } from '../../../../views/console/url.ts'
import { bytes, counted, numeral } from '../../../../views/console/words.ts'
import type { TenantStatus } from '../../../platform/tenants.ts'
import type { InstallationIssue, InstanceHealth } from '../../instance-health.ts'
import { depth, eventOf, sentenceOn } from '../installation/health.tsx'

const CONFIGURATION = PAGES.configuration.path

/** Overview of the installation, for admins. */
export const InstallationPage = (page: {
  base: string
  name: string
  health: InstanceHealth
  tenants: Record<TenantStatus, number>
}) => {
  const { base, name, health, tenants } = page
  const { now, backups, issues, queues, mail } = health
  const readyCount = queues.reduce((sum, queue) => sum + queue.readyCount, 0)
  const inArrears = tenants.suspended + tenants.renewal_unpaid
  return (
    <>
      <PageHead title={<Text text={name} limit={64} />} state={sentenceOn(health)} />
      <Tiles
        label="Summary"
        tiles={[
          {
            label: 'Active tenants',
            value: numeral(tenants.active),
            compared: {
              text: inArrears === 0 ? 'None suspended' : `${numeral(inArrears)} suspended`,
            },
            href: url(base, PAGES.tenants.path),
          },
          {
            label: 'Backlog',
            value: depth(readyCount),
            compared: { text: 'Runs and deliveries' },
            href: url(base, PAGES.health.path),
          },
          {
            label: 'Queued emails',
            value: depth(mail.ready + mail.waiting),
            compared: {
              text: mail.server === null ? 'No mail server' : 'Waiting for the mail server',
            },
            href: url(base, PAGES.mail.path),
          },
          {
            label: 'Last backup',
            value: backups.last?.endedAt ? relative(backups.last.endedAt, now) : 'Never',
            compared: { text: `${bytes(health.freeBytes)} of disk space free` },
            href: url(base, PAGES.health.path),
          },
        ]}
      />
      <Section id="attention" title="Needs attention" isCard>
        {issues.length === 0 ? (
          <AllQuiet />
        ) : (
          <Events
            label="Needs attention"
            events={issues.map((issue) => withAction(issue, base, now))}
          />
        )}
      </Section>
      <Section id="process" title="Process" isCard>
        <p class="hint">
          Version {health.version}, started <Time at={health.startedAt} now={now} />.{' '}
          {counted(health.instances, 'process', 'processes')} running on this data directory.
        </p>
      </Section>
    </>
  )
}

function withAction(issue: InstallationIssue, base: string, now: number) {
  const event = eventOf(issue, url(base, CONFIGURATION, { q: 'backup' }), now)
  const link = (
    <LinkButton href={url(base, PAGES.health.path)} isSmall>
      View
    </LinkButton>
  )
  return { ...event, aside: issue.what === 'backups off' ? event.aside : link }
}

/** Problems of the installation, on an admin's tenant overview. */
export const InstallationIssues = (page: {
  base: string
  issues: readonly InstallationIssue[]
  now: number
}) =>
  page.issues.length === 0 ? null : (
    <Section
      id="installation"
      title="Installation"
      note="Visible to admins only."
      isCard
      aside={
        <ScopedForm action={url(page.base, LAYOUT_PATHS.switchScope)}>
          <Button name="to" value="installation" isSmall>
            Switch to installation
          </Button>
        </ScopedForm>
      }
    >
      <Events
        label="Problems of the installation"
        events={page.issues.map(({ ...issue }) => ({
          ...eventOf(issue, '', page.now),
          aside: undefined,
        }))}
      />
    </Section>
  )

/** Overview of an operator without access to the selected tenant, or to any. */
export const NoTenantPage = ({ base, hasOthers }: { base: string; hasOthers: boolean }) => (
  <>
    <PageHead
      title="No tenant"
      state={{
        tone: 'warn',
        sentence: hasOthers
          ? 'You no longer have access to the selected tenant. Select another one at the top left.'
          : "You're not a member of any tenant. Ask an owner to invite you.",
      }}
    />
    <LinkButton href={url(base, '/console/account')}>Account</LinkButton>
  </>
)

/** Overview of a new operator, whose tenant is created once the email address is verified. */
export const UnverifiedPage = ({ base, email }: { base: string; email: string }) => (
  <>
    <PageHead
      title="Verify your email"
      state={{
        tone: 'warn',
        sentence: (
          <>
            Your tenant is created once <Text text={email} limit={64} /> is verified.
          </>
        ),
      }}
    />
    <ActionButton weight="primary" action={url(base, '/console/account/verify')}>
      Verify email
    </ActionButton>
  </>
)
