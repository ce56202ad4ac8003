import { Confirm, DangerZone } from '../../../../views/ui/confirm.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { SecretPanel } from '../../../../views/ui/secret-panel.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Address, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized, counted } from '../../../../views/ui/words.ts'
import type { Operator } from '../../../engines/gate/operators/list.ts'
import { trimmedText } from '../../form.ts'
import type { MembershipRow } from '../../operators/memberships.ts'
import { good, page, shown } from '../../page.tsx'
import { OPERATOR_BADGES, type OperatorRow } from './operators.tsx'

const PATH = '/operators'

interface Subject {
  operator: OperatorRow
  memberships: readonly MembershipRow[]
  /** Number of active sessions. */
  sessions: number
  isSelf: boolean
  /** The only admin of the installation. */
  isLastAdmin: boolean
  /** Whether sign-in links are emailed. */
  isMailed: boolean
}

/** One operator: tenants, access, admin role and account state. */
export const operatorPage = page({
  path: '/operators/:id',
  section: 'operators',
  right: 'admin',

  load({ operators, gate, operator: self, params: { id } }): Subject {
    const { admins, memberships, loginLinks } = operators
    return {
      operator: { ...admins.existing(id), isAdmin: admins.isAdmin(id) },
      memberships: memberships.of(id),
      sessions: gate.gateOperators.sessions.list(id).length,
      isSelf: self.id === id,
      isLastAdmin: admins.isLast(id),
      isMailed: loginLinks.isMailed,
    }
  },

  title: ({ operator }) => operator.email,

  view(subject) {
    const { operator } = subject
    const { href } = useHere()
    return (
      <>
        <PageHead
          title={<Text text={operator.email} />}
          state={{ tone: OPERATOR_BADGES[operator.state].tone, sentence: sentenceOn(subject) }}
        />
        <Section id="about" title="About" isCard>
          <Facts
            facts={[
              ['Email', <Address {...operator} limit={80} />],
              ['ID', <Id id={operator.id} what="operator ID" />],
              ['Name', operator.name === '' ? 'Not set' : <Text text={operator.name} />],
              ['Status', <StatusBadge {...OPERATOR_BADGES[operator.state]} />],
              ['Created', <Time at={operator.createdAt} />],
            ]}
          />
        </Section>
        <Section id="tenants" title="Tenants">
          <DataTable
            caption="Tenants of this operator"
            columns={TENANT_COLUMNS}
            rows={subject.memberships}
            hrefOf={({ tenantId }) => href(`/tenants/${tenantId}`)}
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
        {operator.state === 'active' && <Access {...subject} />}
        <DangerZone
          items={[
            operator.isAdmin ? taking(subject) : giving(subject),
            ...(subject.isSelf ? [] : [end(subject)]),
          ]}
        />
      </>
    )
  },

  actions: {
    'give-admin': {
      right: 'admin',
      flash: good('Admin role granted.'),
      run({ operators: { admins }, actor, params: { id }, fields }) {
        const email = trimmedText(fields, 'email') || admins.existing(id).email
        return admins.give(actor, { id, email })
      },
    },
    'take-admin': {
      right: 'admin',
      flash: good('Admin role removed.'),
      /** Operators who remove their own admin role lose access to this page. */
      async run({ operators, actor, operator, params }) {
        await operators.admins.take(actor, params.id)
        return operator.id === params.id ? { to: '/account' } : {}
      },
    },
    deactivate: {
      right: 'admin',
      flash: good('Operator deactivated and signed out.'),
      run: ({ operators, actor, params }) => operators.admins.deactivate(actor, params.id),
    },
    reactivate: {
      right: 'admin',
      flash: good('Operator reactivated.'),
      run: ({ operators, actor, params }) => operators.admins.reactivate(actor, params.id),
    },
    'sign-out': {
      right: 'admin',
      flash: good('All sessions signed out.'),
      run: ({ operators, actor, params }) => operators.admins.signOut(actor, params.id),
    },
    'login-link': {
      right: 'admin',
      flash: good('Sign-in link sent.'),
      /** Shows the link in the response to the form, because it is not stored. */
      async run({ operators: { admins, loginLinks }, actor, params }) {
        const operator = admins.existing(params.id)
        const link = await loginLinks.make(actor, operator)
        return link === undefined
          ? {}
          : shown(operator.email, <LoginLink operator={operator} link={link} />)
      },
    },
  },
})

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
        action={useHere().actionHref('login-link')}
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
          action={useHere().actionHref('sign-out')}
        />
      )}
    </div>
  </Section>
)

/** Shows a sign-in link once. */
const LoginLink = (page: { operator: Operator; link: string }) => (
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
      doneHref={useHere().href(`${PATH}/${page.operator.id}`)}
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
        action={useHere().actionHref('give-admin')}
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
      action={useHere().actionHref('take-admin')}
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
          <ActionButton action={useHere().actionHref('reactivate')}>
            Reactivate operator
          </ActionButton>
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
            action={useHere().actionHref('deactivate')}
          />
        ),
      }
