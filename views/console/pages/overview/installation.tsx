import type { Health, Trouble } from '../../../../src/console/instance-health.ts'
import type { TenantStatus } from '../../../../src/platform/tenants.ts'
import { AllQuiet, Events } from '../../events.tsx'
import { ActionButton, Button, LinkButton } from '../../form/button.tsx'
import { FRAME_PATHS, PAGES } from '../../frame/navigation.ts'
import { PageHead } from '../../page-head.tsx'
import { ScopedForm } from '../../scope.tsx'
import { Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import { Tiles } from '../../tiles.tsx'
import { relative, Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { counted, numeral } from '../../words.ts'
import { bytes, depth, eventOf, sentenceOn } from '../admin/health.tsx'

/** How the installation is, for whoever runs it. */
export const InstallationPage = (page: {
  base: string
  name: string
  health: Health
  tenants: Record<TenantStatus, number>
}) => {
  const { base, name, health, tenants } = page
  const { now, backups, troubles, queues, mail } = health
  const standing = queues.reduce((sum, queue) => sum + queue.standing, 0)
  const inArrears = tenants.suspended + tenants.renewal_unpaid
  return (
    <>
      <PageHead title={<Text text={name} limit={64} />} state={sentenceOn(health)} />
      <Tiles
        label="In short"
        tiles={[
          {
            label: 'Tenants active',
            value: numeral(tenants.active),
            compared: {
              text: inArrears === 0 ? 'none held back' : `${numeral(inArrears)} held back`,
            },
            href: url(base, PAGES.tenants.path),
          },
          {
            label: 'Due and not begun',
            value: depth(standing),
            compared: { text: 'runs and deliveries' },
            href: url(base, PAGES.health.path),
          },
          {
            label: 'Mails to be sent',
            value: depth(mail.ready + mail.waiting),
            compared: { text: mail.server === null ? 'no mail server' : 'by the mail server' },
            href: url(base, PAGES.mail.path),
          },
          {
            label: 'Last backup',
            value: backups.last?.endedAt ? relative(backups.last.endedAt, now) : 'never',
            compared: { text: `${bytes(health.freeBytes)} of disk free` },
            href: url(base, PAGES.health.path),
          },
        ]}
      />
      <Section id="attention" title="Needs attention" isCard>
        {troubles.length === 0 ? (
          <AllQuiet />
        ) : (
          <Events
            label="Needs attention"
            events={troubles.map((trouble) => withAction(trouble, base, now))}
          />
        )}
      </Section>
      <Section id="process" title="This process" isCard>
        <p class="hint">
          Version {health.version}, which began <Time at={health.startedAt} now={now} />.{' '}
          {counted(health.instances, 'process works', 'processes work')} on this data.
        </p>
      </Section>
    </>
  )
}

function withAction(trouble: Trouble, base: string, now: number) {
  const event = eventOf(trouble, base, now)
  const look = (
    <LinkButton href={url(base, PAGES.health.path)} isSmall>
      Look
    </LinkButton>
  )
  return { ...event, aside: trouble.what === 'backups off' ? event.aside : look }
}

/** The same trouble on the page of a tenant, for somebody who has to act elsewhere to end it. */
export const InstallationTroubles = (page: {
  base: string
  troubles: readonly Trouble[]
  now: number
}) =>
  page.troubles.length === 0 ? null : (
    <Section
      id="installation"
      title="Installation"
      note="Shown to you because you run it."
      isCard
      aside={
        <ScopedForm action={url(page.base, FRAME_PATHS.place)}>
          <Button name="place" value="installation" isSmall>
            Go to the installation
          </Button>
        </ScopedForm>
      }
    >
      <Events
        label="Troubles of the installation"
        events={page.troubles.map(({ ...trouble }) => ({
          ...eventOf(trouble, page.base, page.now),
          aside: undefined,
        }))}
      />
    </Section>
  )

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

/** For somebody who has signed up, and gets a tenant once the address is verified. */
export const UnverifiedPage = ({ base, email }: { base: string; email: string }) => (
  <>
    <PageHead
      title="Verify your e-mail"
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
      Verify e-mail
    </ActionButton>
  </>
)
