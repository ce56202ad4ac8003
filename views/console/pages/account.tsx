import type { Scope } from '../../../src/console/operators/current-operator.ts'
import type { MembershipRow } from '../../../src/console/operators/store/memberships.ts'
import type { OperatorSignInMethods } from '../../../src/engines/gate/operators/sign-in-methods.ts'
import { Address } from '../address.tsx'
import { Confirm } from '../confirm.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { Facts } from '../facts.tsx'
import { ActionButton } from '../form/button.tsx'
import { Id } from '../id.tsx'
import { LAYOUT_PATHS } from '../layout/navigation.ts'
import { PageHead } from '../page-head.tsx'
import { Section } from '../section.tsx'
import { StatusBadge } from '../status-badge.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import { url } from '../url.ts'
import { capitalized, counted } from '../words.ts'

/** Sections of the hosted settings page. */
export const ACCOUNT_SECTIONS = ['password', 'totp', 'lookup_secret', 'oidc'] as const
type AccountSection = (typeof ACCOUNT_SECTIONS)[number]

/** A session of the operator. */
export interface SessionRow {
  id: string
  /** The session that shows the page. */
  isThis: boolean
  /** Undefined if unknown. */
  device: string | undefined
  address: string | undefined
  /** Methods used to sign in and to verify since. */
  methods: readonly string[]
  since: number
  until: number
}

/** The operator's profile, sign-in methods, sessions and tenants. */
export const AccountPage = (page: {
  base: string
  operator: {
    id: string
    email: string
    displayName: string
    isAdmin: boolean
    memberships: readonly MembershipRow[]
    /** Undefined without access to the selected tenant, or to any. */
    scope: Scope | undefined
  }
  /** Whether the operator's email address is verified. */
  isVerified: boolean
  /** Whether Gatehouse can send email. */
  hasMail: boolean
  signInMethods: OperatorSignInMethods
  sessions: readonly SessionRow[]
  now: number
}) => {
  const { base, operator, sessions, now } = page
  const { displayName, email, isAdmin, memberships, scope } = operator
  const others = sessions.filter(({ isThis }) => !isThis).length
  return (
    <>
      <PageHead
        title="Account"
        state={{
          sentence: (
            <>
              Signed in as <Text text={email} limit={64} /> {wordsFor(sessions)}{' '}
              {others === 0 ? 'No other sessions.' : `${counted(others, 'other session')}.`}
            </>
          ),
        }}
        aside={<ActionButton action={url(base, LAYOUT_PATHS.signOut)}>Sign out</ActionButton>}
        action={
          <ActionButton weight="primary" action={url(base, '/console/account/settings')}>
            Edit sign-in settings
          </ActionButton>
        }
      />
      <Section
        id="about"
        title="About you"
        note="To change your name or email, select Edit sign-in settings. You return here afterwards."
        isCard
      >
        <Facts
          facts={[
            ['Name', displayName === '' ? 'Not set' : <Text text={displayName} limit={80} />],
            ['Email', <Address email={email} isVerified={page.isVerified} limit={80} />],
            ['ID', <Id id={operator.id} what="operator ID" />],
            ...(isAdmin ? [['Installation', 'Admin'] as const] : []),
          ]}
        />
        {!page.isVerified && page.hasMail && (
          <div class="actions">
            <ActionButton action={url(base, '/console/account/verify')}>Verify email</ActionButton>
          </div>
        )}
      </Section>
      <Section
        id="ways"
        title="Sign-in methods"
        note="You edit these in the sign-in settings and return here afterwards."
      >
        <DataTable
          caption="Sign-in methods"
          columns={signInMethodColumns(base, now)}
          rows={signInMethodRows(page.signInMethods)}
          idOf={({ id }) => id}
        />
      </Section>
      <Section
        id="sessions"
        title="Sessions"
        note="If you don't recognize a session, sign it out, then change your password."
        aside={
          others > 0 && (
            <Confirm
              id="end-others"
              verb="Sign out other sessions"
              question="Sign out all other sessions?"
              consequence="All sessions except this one end immediately."
              action={url(base, '/console/account/end-others')}
            />
          )
        }
      >
        <DataTable
          caption="Sessions"
          columns={sessionColumns(base, now)}
          rows={sessions}
          idOf={({ id }) => id}
        />
      </Section>
      <Section id="memberships" title="Tenants">
        <DataTable
          caption="Tenants that you have access to"
          columns={scopeColumns(base, scope?.kind === 'tenant' ? scope.tenantId : scope?.kind)}
          rows={scopesOf(memberships, isAdmin)}
          idOf={({ id }) => id}
          empty={
            <EmptyState
              icon="team"
              sentence="You're not on a team yet"
              next="Ask an owner of a team to invite you."
            />
          }
        />
      </Section>
    </>
  )
}

interface SignInMethodRow {
  id: string
  name: string
  section: AccountSection
  /** Label of the button. */
  verb: 'Change' | 'Set up'
  badge: { tone: Tone; word: string }
  since: number | undefined
}

function signInMethodRows({
  password,
  authenticator,
  recoveryCodes,
  accounts,
}: OperatorSignInMethods): SignInMethodRow[] {
  const rowOf = (section: AccountSection, name: string, set: { since: number } | undefined) => ({
    id: section,
    section,
    name,
    verb: set ? ('Change' as const) : ('Set up' as const),
    badge: set ? SET : UNSET,
    since: set?.since,
  })
  return [
    rowOf('password', 'Password', password),
    rowOf('totp', 'Authenticator app', authenticator),
    // Recovery codes only replace an authenticator app.
    ...(authenticator || recoveryCodes
      ? [
          {
            ...rowOf('lookup_secret', 'Recovery codes', recoveryCodes),
            badge: recoveryCodes ? codesBadge(recoveryCodes) : NO_CODES,
          },
        ]
      : []),
    ...accounts.map(({ provider, since }) => ({
      ...rowOf('oidc', METHODS[provider] ?? provider, { since }),
      id: provider,
      badge: LINKED,
    })),
  ]
}

const SET = { tone: 'good', word: 'set up' } as const
const UNSET = { tone: 'quiet', word: 'not set up' } as const
const LINKED = { tone: 'good', word: 'linked' } as const
const NO_CODES = {
  tone: 'warn',
  word: 'none: without your authenticator app, you are locked out',
} as const
const FEW_CODES = 3

const codesBadge = ({ left, all }: { left: number; all: number }) => ({
  tone: left < FEW_CODES ? ('warn' as const) : ('good' as const),
  word: `${left} of ${all} left`,
})

const signInMethodColumns = (base: string, now: number): Column<SignInMethodRow>[] => [
  { label: 'Method', isWide: true, cell: ({ name }) => name },
  { label: 'Status', narrow: 'corner', cell: ({ badge }) => <StatusBadge {...badge} /> },
  {
    label: 'Added',
    align: 'right',
    cell: ({ since }) => (since === undefined ? '–' : <Time at={since} now={now} />),
  },
  {
    label: 'Action',
    align: 'right',
    narrow: 'bare',
    cell: ({ name, section, verb }) => (
      <ActionButton isSmall action={url(base, '/console/account/settings')} fields={{ section }}>
        {verb}
        <span class="unseen"> {name}</span>
      </ActionButton>
    ),
  },
]

const METHODS: Readonly<Record<string, string>> = {
  password: 'password',
  code: 'email code',
  link: 'sign-in link',
  totp: 'authenticator app',
  lookup_secret: 'recovery code',
  oidc: 'social login',
  'github-tenant': 'GitHub',
  'google-tenant': 'Google',
}

const inWords = (methods: readonly string[]): string =>
  methods.map((method) => METHODS[method] ?? method).join(' and ') || '–'

const wordsFor = (sessions: readonly SessionRow[]): string => {
  const own = sessions.find(({ isThis }) => isThis)
  return own ? `with ${inWords(own.methods)}.` : 'in this session.'
}

const sessionColumns = (base: string, now: number): Column<SessionRow>[] => [
  { label: 'Device', isWide: true, cell: ({ device }) => device ?? 'Unknown device' },
  {
    label: 'IP address',
    isMono: true,
    cell: ({ address }) => <Text text={address ?? 'Unknown'} limit={64} />,
  },
  { label: 'Method', cell: ({ methods }) => capitalized(inWords(methods)) },
  { label: 'Signed in', align: 'right', cell: ({ since }) => <Time at={since} now={now} /> },
  { label: 'Expires', align: 'right', cell: ({ until }) => <Time at={until} now={now} /> },
  {
    label: 'Action',
    align: 'right',
    narrow: 'bare',
    cell: ({ id, isThis, device }) =>
      isThis ? (
        <StatusBadge tone="good" word="this session" />
      ) : (
        <ActionButton isSmall action={url(base, `/console/account/sessions/${id}/end`)}>
          Sign out<span class="unseen"> the session on {device ?? 'an unknown device'}</span>
        </ActionButton>
      ),
  },
]

interface ScopeRow {
  /** ID for the tenant switcher. */
  id: string
  name: string
  role: string
}

const scopesOf = (memberships: readonly MembershipRow[], isAdmin: boolean): ScopeRow[] => [
  ...memberships.map(({ tenantId: id, tenantName: name, role }) => ({ id, name, role })),
  ...(isAdmin ? [{ id: 'installation', name: 'Installation', role: 'admin' }] : []),
]

const scopeColumns = (base: string, current: string | undefined): Column<ScopeRow>[] => [
  { label: 'Tenant', isWide: true, cell: ({ name }) => <Text text={name} limit={64} /> },
  { label: 'Role', cell: ({ role }) => capitalized(role) },
  {
    label: 'Action',
    align: 'right',
    narrow: 'bare',
    cell: ({ id, name }) =>
      id === (current === 'instance' ? 'installation' : current) ? (
        <StatusBadge tone="good" word="current" />
      ) : (
        <ActionButton isSmall action={url(base, LAYOUT_PATHS.switchScope)} fields={{ to: id }}>
          Switch
          <span class="unseen">
            {' '}
            to <Text text={name} limit={48} />
          </span>
        </ActionButton>
      ),
  },
]
