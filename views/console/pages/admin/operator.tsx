import type { MembershipRow } from '../../../../src/console/operators/store/memberships.ts'
import type { Operator } from '../../../../src/engines/gate/operators/list.ts'
import { Address } from '../../address.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { Facts } from '../../facts.tsx'
import { ActionButton } from '../../form/button.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { SecretPanel } from '../../secret-panel.tsx'
import { Section } from '../../section.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { capitalized, counted } from '../../words.ts'
import { OPERATOR_BADGES, type OperatorRow } from './operators.tsx'

const PATH = '/console/admin/operators'

interface Subject {
  base: string
  operator: OperatorRow
  memberships: readonly MembershipRow[]
  /** Number of active sessions. */
  sessions: number
  isSelf: boolean
  /** The only admin of the installation. */
  isLastAdmin: boolean
  /** Whether sign-in links are emailed. */
  isMailed: boolean
  now: number
}

/** One operator: tenants, access, admin role and account state. */
export const OperatorPage = (page: Subject) => {
  const { base, operator, now } = page
  return (
    <>
      <PageHead
        title={<Text text={operator.email} />}
        state={{ tone: OPERATOR_BADGES[operator.state].tone, sentence: sentenceOn(page) }}
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Email', <Address {...operator} limit={80} />],
            ['ID', <Id id={operator.id} what="operator ID" />],
            ['Name', operator.name === '' ? 'Not set' : <Text text={operator.name} />],
            ['Status', <StatusBadge {...OPERATOR_BADGES[operator.state]} />],
            ['Created', <Time at={operator.createdAt} now={now} />],
          ]}
        />
      </Section>
      <Section id="tenants" title="Tenants">
        <DataTable
          caption="Tenants of this operator"
          columns={TENANT_COLUMNS}
          rows={page.memberships}
          hrefOf={({ tenantId }) => url(base, `/console/admin/tenants/${tenantId}`)}
          idOf={({ tenantId }) => tenantId}
          empty={
            <EmptyState
              icon="tenants"
              sentence="Not a member of any tenant"
              next="An owner of a tenant can invite this operator on the Team page."
            />
          }
        />
      </Section>
      {operator.state === 'active' && <Access {...page} />}
      <DangerZone
        items={[
          operator.isAdmin ? taking(page) : giving(page),
          ...(page.isSelf ? [] : [end(page)]),
        ]}
      />
    </>
  )
}

function sentenceOn({ operator: { state, isAdmin }, isSelf, sessions }: Subject): string {
  if (state === 'inactive') return "Deactivated. This operator can't sign in."
  const role = isAdmin ? 'Installation admin' : 'Operator'
  return `${role}${isSelf ? ' (you)' : ''}, ${signedIn(sessions)}`
}

function signedIn(sessions: number): string {
  return sessions === 0 ? 'no active sessions' : counted(sessions, 'active session')
}

const TENANT_COLUMNS: Column<MembershipRow>[] = [
  { label: 'Name', isWide: true, cell: ({ tenantName }) => <Text text={tenantName} limit={60} /> },
  { label: 'Role', narrow: 'corner', cell: ({ role }) => capitalized(role) },
]

/** Sign-in link for operators who lost access, and sign-out of all sessions. */
const Access = (subject: Subject) => (
  <Section
    id="access"
    title="Access"
    note={
      subject.isMailed
        ? 'A sign-in link is emailed to the operator. It works once and expires after 10 minutes.'
        : "Gatehouse can't send email, so the link is shown to you. It works once and expires after 10 minutes."
    }
    isCard
  >
    <div class="actions">
      <Confirm
        id="login-link"
        verb={subject.isMailed ? 'Send sign-in link' : 'Create sign-in link'}
        question={
          subject.isMailed ? 'Send a sign-in link?' : 'Create a sign-in link for this operator?'
        }
        consequence={
          subject.operator.isVerified
            ? 'Anyone who opens it is signed in as this operator; two-factor authentication still applies. The audit log records it.'
            : `Anyone who opens it is signed in as this operator. ${LOSES} The audit log records it.`
        }
        action={actionOn(subject, 'login-link')}
        isHarmless
      />
      {subject.sessions > 0 && (
        <Confirm
          id="sign-out"
          verb="Sign out everywhere"
          question={
            subject.isSelf
              ? 'Sign out everywhere, including here?'
              : 'Sign this operator out everywhere?'
          }
          consequence="All sessions and sign-in links end immediately. The operator can sign in again."
          action={actionOn(subject, 'sign-out')}
        />
      )}
    </div>
  </Section>
)

/** Shows a sign-in link once. */
export const LoginLinkPage = (page: { base: string; operator: Operator; link: string }) => (
  <>
    <PageHead
      title="Sign-in link"
      state={{
        sentence: (
          <>
            Only for <Text text={page.operator.email} limit={64} />
          </>
        ),
      }}
    />
    <SecretPanel
      title="Send this link to the operator"
      what="link"
      secret={page.link}
      doneHref={url(page.base, `${PATH}/${page.operator.id}`)}
    >
      The link works once and expires after 10 minutes. You won't be able to see it again.
    </SecretPanel>
  </>
)

/** What an unverified account loses, because someone else may have created it. */
const LOSES =
  'The email address is not verified, so every password, two-factor authentication, social login, ' +
  'session and invitation of the account is removed.'

const lost = ({ operator, isMailed }: Subject): string =>
  operator.isVerified ? '' : ` ${LOSES} ${isMailed ? 'Send' : 'Create'} a sign-in link afterwards.`

const actionOn = ({ base, operator }: Subject, verb: string) =>
  url(base, `${PATH}/${operator.id}/${verb}`)

const giving = (subject: Subject) => ({
  title: 'Make admin',
  text: 'Admins see all tenants, their plans and members, the email outbox and the configuration.',
  control:
    subject.operator.state === 'active' ? (
      <Confirm
        id="give"
        verb="Make admin"
        question="Make this operator an admin?"
        consequence={`Admins can suspend tenants, make others admins, and remove your admin role.${lost(subject)}`}
        action={actionOn(subject, 'give-admin')}
        fields={{ email: subject.operator.email }}
      />
    ) : (
      <p class="hint">Reactivate the operator first.</p>
    ),
})

const taking = (subject: Subject) => ({
  title: 'Remove admin role',
  text: 'Memberships in tenants are kept.',
  control: subject.isLastAdmin ? (
    <p class="hint">This is the only admin. Make another operator an admin first.</p>
  ) : (
    <Confirm
      id="take"
      verb="Remove admin role"
      question={subject.isSelf ? 'Remove your admin role?' : 'Remove the admin role?'}
      consequence={
        subject.isSelf
          ? 'You lose access to these pages immediately. Another admin can restore your role.'
          : 'This operator loses access to these pages immediately.'
      }
      action={actionOn(subject, 'take-admin')}
    />
  ),
})

const end = (subject: Subject) =>
  subject.operator.state === 'inactive'
    ? {
        title: 'Reactivate operator',
        text: subject.operator.isVerified
          ? 'The operator can sign in again with the same methods, and keeps all memberships.'
          : `The operator keeps all memberships.${lost(subject)}`,
        control: (
          <ActionButton action={actionOn(subject, 'reactivate')}>Reactivate operator</ActionButton>
        ),
      }
    : {
        title: 'Deactivate operator',
        text: "The operator can't sign in until reactivated. Memberships are kept.",
        control: subject.isLastAdmin ? (
          <p class="hint">This is the only admin. Make another operator an admin first.</p>
        ) : (
          <Confirm
            id="deactivate"
            verb="Deactivate operator"
            question="Deactivate this operator?"
            consequence="All sessions of this operator end immediately."
            action={actionOn(subject, 'deactivate')}
          />
        ),
      }
