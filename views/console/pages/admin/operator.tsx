import type { MembershipRow } from '../../../../src/console/operators/store/memberships.ts'
import type { Operator } from '../../../../src/engines/gate/house/roster.ts'
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
import { StatusMark } from '../../status-mark.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { numeral } from '../../words.ts'
import { OPERATOR_MARKS, type OperatorLine } from './operators.tsx'

const PATH = '/console/admin/operators'

interface Subject {
  base: string
  operator: OperatorLine
  runs: readonly MembershipRow[]
  /** How many they are signed in with. */
  sessions: number
  isSelf: boolean
  /** Nobody else could run the installation. */
  isLastAdmin: boolean
  /** Links that sign people in go to them alone. */
  isMailed: boolean
  now: number
}

/** One person: what they run, whether that is all of it, and whether they get in. */
export const OperatorPage = (page: Subject) => {
  const { base, operator, now } = page
  return (
    <>
      <PageHead
        title={<Text text={operator.email} />}
        state={{ tone: OPERATOR_MARKS[operator.state].tone, sentence: sentenceOn(page) }}
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['E-mail', <Address {...operator} limit={80} />],
            ['Id', <Id id={operator.id} what="operator id" />],
            ['Name', operator.name === '' ? 'none yet' : <Text text={operator.name} />],
            ['State', <StatusMark {...OPERATOR_MARKS[operator.state]} />],
            ['Since', <Time at={operator.createdAt} now={now} />],
          ]}
        />
      </Section>
      <Section id="tenants" title="Tenants">
        <DataTable
          caption="Tenants that they run"
          columns={TENANT_COLUMNS}
          rows={page.runs}
          hrefOf={({ tenantId }) => url(base, `/console/admin/tenants/${tenantId}`)}
          idOf={({ tenantId }) => tenantId}
          empty={
            <EmptyState
              icon="tenants"
              sentence="They belong to no tenant."
              next="An owner of a tenant invites them, on its page Team."
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
  const who = isSelf ? 'You' : 'They'
  if (state === 'inactive') return 'Deactivated: they cannot sign in.'
  const runs = isAdmin ? 'run the installation' : 'do not run the installation'
  return `${who} ${runs}, and are ${signedIn(sessions)}.`
}

function signedIn(sessions: number): string {
  if (sessions === 0) return 'signed in nowhere'
  return sessions === 1 ? 'signed in once' : `signed in in ${numeral(sessions)} places`
}

const TENANT_COLUMNS: Column<MembershipRow>[] = [
  { label: 'Name', isWide: true, cell: ({ tenantName }) => <Text text={tenantName} limit={60} /> },
  { label: 'Role', narrow: 'corner', cell: ({ role }) => role },
]

/** The way back in for who has lost it, and out for whose device was lost. */
const Access = (subject: Subject) => (
  <Section
    id="access"
    title="Access"
    note={
      subject.isMailed
        ? 'A link that signs them in goes to their mailbox alone. It is good once, for ten minutes.'
        : 'A link that signs them in is shown to you, as no mail goes out here. It is good once, for ten minutes.'
    }
    isCard
  >
    <div class="actions">
      <Confirm
        id="login-link"
        verb={subject.isMailed ? 'Send login link' : 'Make login link'}
        question={
          subject.isMailed
            ? 'Send them a link that signs in?'
            : 'Make a link that signs in as them?'
        }
        consequence={
          subject.operator.isVerified
            ? 'Whoever opens it is signed in, but for a second factor where they have set one up. It is noted in the audit log.'
            : `Whoever opens it is signed in. ${LOSES} It is noted in the audit log.`
        }
        action={actionOn(subject, 'login-link')}
        isHarmless
      />
      {subject.sessions > 0 && (
        <Confirm
          id="sign-out"
          verb="Sign out everywhere"
          question={subject.isSelf ? 'Sign out everywhere, and here?' : 'Sign them out everywhere?'}
          consequence="All their sessions end at once, and so do links that would sign them in. They may sign in again."
          action={actionOn(subject, 'sign-out')}
        />
      )}
    </div>
  </Section>
)

/** The link once, for the one who hands it over. */
export const LoginLinkPage = (page: { base: string; operator: Operator; link: string }) => (
  <>
    <PageHead
      title="Login link"
      state={{
        sentence: (
          <>
            For <Text text={page.operator.email} limit={64} />, and nobody else.
          </>
        ),
      }}
    />
    <SecretPanel
      title="Hand it over"
      what="link"
      secret={page.link}
      doneHref={url(page.base, `${PATH}/${page.operator.id}`)}
    >
      It signs in once, within ten minutes, and is not shown again.
    </SecretPanel>
  </>
)

/** What a right, or a link, costs an account that may have been made by someone else. */
const LOSES =
  'The address is not verified: any password, two-factor authentication, social login, session and ' +
  'invitation of the account is removed.'

const lost = ({ operator, isMailed }: Subject): string =>
  operator.isVerified ? '' : ` ${LOSES} ${isMailed ? 'Send' : 'Make'} a login link afterwards.`

const actionOn = ({ base, operator }: Subject, verb: string) =>
  url(base, `${PATH}/${operator.id}/${verb}`)

const giving = (subject: Subject) => ({
  title: 'Let them run the installation',
  text: 'They see all tenants, their plans and members, the mail outbox and the configuration.',
  control:
    subject.operator.state === 'active' ? (
      <Confirm
        id="give"
        verb="Give admin right"
        question="Let them run the installation?"
        consequence={`They may suspend tenants, and give the right to others or take it from you.${lost(subject)}`}
        action={actionOn(subject, 'give-admin')}
        fields={{ email: subject.operator.email }}
      />
    ) : (
      <p class="hint">Not while they are deactivated.</p>
    ),
})

const taking = (subject: Subject) => ({
  title: subject.isSelf ? 'Give up running the installation' : 'Keep them from running it',
  text: 'Their tenants stay theirs.',
  control: subject.isLastAdmin ? (
    <p class="hint">Nobody else runs the installation: give somebody else the right first.</p>
  ) : (
    <Confirm
      id="take"
      verb="Take admin right"
      question={
        subject.isSelf ? 'Give up running the installation?' : 'Take the admin right from them?'
      }
      consequence={
        subject.isSelf
          ? 'You see none of these pages any more, until somebody gives you the right again.'
          : 'They see none of these pages any more, from the next click on.'
      }
      action={actionOn(subject, 'take-admin')}
    />
  ),
})

const end = (subject: Subject) =>
  subject.operator.state === 'inactive'
    ? {
        title: 'Reactivate them',
        text: subject.operator.isVerified
          ? 'They sign in again by what they signed in by before, and run what they ran.'
          : `They run what they ran.${lost(subject)}`,
        control: (
          <ActionButton action={actionOn(subject, 'reactivate')}>Reactivate operator</ActionButton>
        ),
      }
    : {
        title: 'Deactivate them',
        text: 'They keep their part in tenants, and cannot sign in until they are reactivated.',
        control: subject.isLastAdmin ? (
          <p class="hint">Nobody else runs the installation: give somebody else the right first.</p>
        ) : (
          <Confirm
            id="deactivate"
            verb="Deactivate operator"
            question="Deactivate this operator?"
            consequence="They are signed out everywhere at once, in the middle of whatever they do."
            action={actionOn(subject, 'deactivate')}
          />
        ),
      }
