import type { IdentityDetail } from '../../../../../src/engines/gate/identities/model.ts'
import { type Fact, Facts } from '../../../facts.tsx'
import { ActionButton, LinkButton } from '../../../form/button.tsx'
import { Id } from '../../../id.tsx'
import { JsonView } from '../../../json-view.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Section } from '../../../section.tsx'
import { Text } from '../../../text.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { counted } from '../../../words.ts'
import { deviceName, IDENTITIES, StateBadge, VerifiedBadge } from './badges.tsx'
import { Credentials } from './credentials.tsx'
import { IdentityDangerZone } from './danger-zone.tsx'
import { ActivitySection } from './history.tsx'
import type { IdentityView, SessionRow } from './identity-view.ts'
import { Metadata } from './metadata.tsx'
import { Sessions } from './sessions.tsx'

/** One user: profile, sign-in methods, sessions, activity, metadata and actions. */
export const IdentityPage = (page: IdentityView) => {
  const { base, identity, sessions } = page
  const isActive = identity.state === 'active'
  const audit = url(base, '/console/audit', { object: `identity:${identity.id}` })
  return (
    <>
      <PageHead
        title={<Text text={identity.traits.email} />}
        state={{ tone: isActive ? 'good' : 'quiet', sentence: sentenceOn(identity, sessions) }}
        aside={<LinkButton href={audit}>Audit log</LinkButton>}
      />
      <IdentityHead {...page} />
      <Credentials {...page} />
      <Sessions {...page} />
      <ActivitySection {...page} auditHref={audit} />
      <Metadata {...page} />
      <Section id="raw" title="API object">
        <JsonView title="Identity" value={identity} />
      </Section>
      <IdentityDangerZone {...page} />
    </>
  )
}

function sentenceOn({ state }: IdentityDetail, sessions: readonly SessionRow[]): string {
  if (state === 'inactive') return "Inactive. This user can't sign in."
  const [latest] = sessions
  if (!latest) return 'Active, no sessions'
  return `Active, ${counted(sessions.length, 'session')}, last on ${deviceName(latest.device)}`
}

const IdentityHead = (page: IdentityView) => {
  const { identity, mayChange } = page
  const { traits, verifiable_addresses: addresses, state } = identity
  const isUnverified = state === 'active' && addresses.some(({ verified }) => !verified)
  return (
    <Section
      id="who"
      title="About"
      isCard
      aside={
        mayChange &&
        isUnverified && (
          <ActionButton isSmall action={url(page.base, `${IDENTITIES}/${identity.id}/verify`)}>
            Send verification email
          </ActionButton>
        )
      }
    >
      <Facts facts={factsOf(page)} />
      {traits.custom_data && (
        <JsonView title="Profile (user-editable)" value={traits.custom_data} />
      )}
    </Section>
  )
}

function factsOf({ identity, now }: IdentityView): Fact[] {
  const time = (at: string) => <Time at={Date.parse(at)} now={now} />
  return [
    ['ID', <Id id={identity.id} what="user ID" />],
    ['Status', <StateBadge {...identity} />],
    ...identity.verifiable_addresses.flatMap(({ value, verified, verified_at: at }) => [
      ['Email', <Text text={value} />] as const,
      [
        'Email verified',
        <>
          <VerifiedBadge isVerified={verified} /> {at && time(at)}
        </>,
      ] as const,
    ]),
    ['Created', time(identity.created_at)],
    ['Updated', time(identity.updated_at)],
    ...(identity.state === 'inactive'
      ? [['Inactive since', time(identity.state_changed_at)] as const]
      : []),
  ]
}
