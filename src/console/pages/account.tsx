import { LAYOUT_PATHS } from '../../../views/layout/navigation.ts'
import { Marked } from '../../../views/provider-marks.tsx'
import { Confirm } from '../../../views/ui/confirm.tsx'
import { EmptyState } from '../../../views/ui/empty-state.tsx'
import { ActionButton } from '../../../views/ui/form/button.tsx'
import { Id } from '../../../views/ui/id.tsx'
import { Facts, PageHead, Section } from '../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../views/ui/table.tsx'
import { Address, Text } from '../../../views/ui/text.tsx'
import { Time } from '../../../views/ui/time.tsx'
import { capitalized, counted } from '../../../views/ui/words.ts'
import type { OperatorSignInMethods } from '../../engines/gate/operators/sign-in-methods.ts'
import type { Session } from '../../engines/gate/sessions/model.ts'
import { deviceOf } from '../../platform/device.ts'
import { trimmedText } from '../form.ts'
import type { MembershipRow } from '../operators/memberships.ts'
import { createSessionCookie } from '../operators/session-cookie.ts'
import { good, page, usePage } from '../page.tsx'
import { NoMailServer } from './no-mail-server.tsx'

/** Sections of the hosted settings page. */
const SECTIONS = ['password', 'totp', 'lookup_secret', 'oidc'] as const

interface AccountView {
  isVerified: boolean
  signInMethods: OperatorSignInMethods
  /** The current session first, then newest first. */
  sessions: readonly SessionRow[]
}

/** Account of the signed-in operator: profile, sign-in methods, sessions and tenants. */
export const accountPage = page({
  path: '/account',
  right: 'operator',
  title: 'Account',

  load({ gateOperators, operator: { id, sessionId } }): AccountView {
    return {
      isVerified: gateOperators.operatorList.isVerified(id),
      signInMethods: gateOperators.signInMethodsOf(id),
      sessions: gateOperators.sessions
        .list(id)
        .map((session) => sessionRowOf(session, sessionId))
        .toSorted((a, b) => Number(b.isThis) - Number(a.isThis)),
    }
  },

  view({ isVerified, signInMethods, sessions }) {
    const { operator, mail, href, actionHref } = usePage()
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
          aside={<ActionButton action={href(LAYOUT_PATHS.signOut)}>Sign out</ActionButton>}
          action={
            <ActionButton weight="primary" action={actionHref('settings')}>
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
              ['Email', <Address email={email} isVerified={isVerified} limit={80} />],
              ['ID', <Id id={operator.id} what="operator ID" />],
              ...(isAdmin ? [['Installation', 'Admin'] as const] : []),
            ]}
          />
          {!isVerified && !mail.hasServer && (
            <p class="hint">
              Gatehouse can't send a verification email yet. <NoMailServer />
            </p>
          )}
          {!isVerified && mail.hasServer && (
            <div class="actions">
              <ActionButton action={actionHref('verify')}>Verify email</ActionButton>
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
            columns={SIGN_IN_METHOD_COLUMNS}
            rows={signInMethodRows(signInMethods)}
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
                action={actionHref('end-others')}
              />
            )
          }
        >
          <DataTable
            caption="Sessions"
            columns={SESSION_COLUMNS}
            rows={sessions}
            idOf={({ id }) => id}
          />
        </Section>
        <Section id="memberships" title="Tenants">
          <DataTable
            caption="Tenants that you have access to"
            columns={scopeColumns(scope?.kind === 'tenant' ? scope.tenantId : scope?.kind)}
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
  },

  messages: {
    secured: good(
      'The email address of this account was not verified, so any earlier password, two-factor ' +
        'authentication, social login and session was removed. Set a new password.',
    ),
    left: good('You left the team.'),
  },

  actions: {
    /** Redirects to the hosted settings page, at the requested section. */
    settings: {
      right: 'operator',
      async run({ gateOperators, baseUrl, request, fields }) {
        const section = SECTIONS.find((one) => one === trimmedText(fields, 'section'))
        const page = await gateOperators.begin({
          kind: 'settings',
          returnTo: `${baseUrl()}/console/account`,
          sessionToken: createSessionCookie({ baseUrl }).tokenIn(request),
        })
        return { away: section === undefined ? page : `${page}#section-${section}` }
      },
    },
    /** Redirects to the hosted verification page, which emails a code. */
    verify: {
      right: 'operator',
      async run({ gateOperators, operators, operator, baseUrl }) {
        const isWaiting = operators.signUp.isWaiting(operator.id)
        const returnTo = `${baseUrl()}${isWaiting ? '/console/enter' : '/console/account'}`
        return { away: await gateOperators.begin({ kind: 'verification', returnTo }) }
      },
    },
    'end-others': {
      right: 'operator',
      flash: good('Other sessions signed out.'),
      async run({ gateOperators, operator, actor }) {
        const { id: operatorId, sessionId: keptSessionId } = operator
        await gateOperators.sessions.endOthers(actor, { operatorId, keptSessionId })
      },
    },
    'sessions/:session/end': {
      right: 'operator',
      flash: good('Session signed out.'),
      async run({ gateOperators, operator, actor, params, baseUrl }) {
        const { session: sessionId } = params
        await gateOperators.sessions.end(actor, { operatorId: operator.id, sessionId })
        if (sessionId !== operator.sessionId) return undefined
        return { to: '/login', cookies: createSessionCookie({ baseUrl }).expiredCookies() }
      },
    },
  },
})

/** A session of the operator. */
interface SessionRow {
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

function sessionRowOf(session: Session, ownId: string): SessionRow {
  const [device] = session.devices
  const known = deviceOf(device?.user_agent ?? null)
  return {
    id: session.id,
    isThis: session.id === ownId,
    device: [known?.browser, known?.system].filter(Boolean).join(' on ') || undefined,
    address: device?.ip_address ?? undefined,
    methods: session.authentication_methods.map(({ method, provider }) => provider ?? method),
    since: Date.parse(session.issued_at),
    until: Date.parse(session.expires_at),
  }
}

interface SignInMethodRow {
  id: string
  name: string
  section: (typeof SECTIONS)[number]
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
  const rowOf = (
    section: (typeof SECTIONS)[number],
    name: string,
    set: { since: number } | undefined,
  ) => ({
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
  word: 'none: create them, or you are locked out without your authenticator app',
} as const
const FEW_CODES = 3

const codesBadge = ({ left, all }: { left: number; all: number }) => ({
  tone: left < FEW_CODES ? ('warn' as const) : ('good' as const),
  word: `${left} of ${all} left`,
})

const SIGN_IN_METHOD_COLUMNS: Column<SignInMethodRow>[] = [
  {
    label: 'Method',
    isWide: true,
    cell: ({ id, section, name }) =>
      section === 'oidc' ? <Marked provider={id} name={name} /> : name,
  },
  { label: 'Status', narrow: 'corner', cell: ({ badge }) => <StatusBadge {...badge} /> },
  {
    label: 'Added',
    align: 'right',
    cell: ({ since }) => (since === undefined ? '–' : <Time at={since} />),
  },
  {
    label: 'Action',
    align: 'right',
    narrow: 'bare',
    cell: ({ name, section, verb }) => (
      <ActionButton isSmall action={usePage().actionHref('settings')} fields={{ section }}>
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

const SESSION_COLUMNS: Column<SessionRow>[] = [
  { label: 'Device', isWide: true, cell: ({ device }) => device ?? 'Unknown device' },
  {
    label: 'IP address',
    isMono: true,
    cell: ({ address }) => <Text text={address ?? 'Unknown'} limit={64} />,
  },
  { label: 'Method', cell: ({ methods }) => capitalized(inWords(methods)) },
  { label: 'Signed in', align: 'right', cell: ({ since }) => <Time at={since} /> },
  { label: 'Expires', align: 'right', cell: ({ until }) => <Time at={until} /> },
  {
    label: 'Action',
    align: 'right',
    narrow: 'bare',
    cell: ({ id, isThis, device }) =>
      isThis ? (
        <StatusBadge tone="good" word="this session" />
      ) : (
        <ActionButton isSmall action={usePage().actionHref(`sessions/${id}/end`)}>
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

const scopeColumns = (current: string | undefined): Column<ScopeRow>[] => [
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
        <ActionButton isSmall action={usePage().href(LAYOUT_PATHS.switchScope)} fields={{ to: id }}>
          Switch
          <span class="unseen">
            {' '}
            to <Text text={name} limit={48} />
          </span>
        </ActionButton>
      ),
  },
]
