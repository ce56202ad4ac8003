import type { MembershipRow } from '../../../src/console/operators/store/memberships.ts'
import type { Visitor } from '../../../src/console/operators/visitors.ts'
import type { WaysIn } from '../../../src/engines/gate/house/ways.ts'
import { Address } from '../address.tsx'
import { Confirm } from '../confirm.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { Facts } from '../facts.tsx'
import { ActionButton } from '../form/button.tsx'
import { FRAME_PATHS } from '../frame/navigation.ts'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import { Section } from '../section.tsx'
import { StatusMark } from '../status-mark.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import { url } from '../url.ts'

/** Parts of the page of settings, as it names them. */
export const ACCOUNT_SECTIONS = ['password', 'totp', 'lookup_secret', 'oidc'] as const
type AccountSection = (typeof ACCOUNT_SECTIONS)[number]

/** One place in which somebody is signed in. */
export interface SessionLine {
  id: string
  /** The one that looks at the page. */
  isThis: boolean
  /** Undefined for what cannot be told. */
  device: string | undefined
  address: string | undefined
  /** By what it was opened, and what was shown since. */
  methods: readonly string[]
  since: number
  until: number
}

/** Who somebody is, how they get in, where they are in and where they may act. */
export const AccountPage = (page: {
  base: string
  visitor: Visitor
  /** Whether the address of the visitor is. */
  isVerified: boolean
  /** Whether a code could be mailed to it. */
  hasMail: boolean
  ways: WaysIn
  sessions: readonly SessionLine[]
  now: number
}) => {
  const { base, visitor, sessions, now } = page
  const { displayName, email, isAdmin, memberships, place } = visitor
  const others = sessions.filter(({ isThis }) => !isThis).length
  return (
    <>
      <PageHead
        title="Account"
        state={{
          sentence: (
            <>
              Signed in as <Text text={email} limit={64} /> {wordsFor(sessions)}
              {others === 0 ? ', and nowhere else.' : `, and ${elsewhere(others)}.`}
            </>
          ),
        }}
        aside={<ActionButton action={url(base, FRAME_PATHS.signOut)}>Sign out</ActionButton>}
        action={
          <ActionButton weight="primary" action={url(base, '/console/account/settings')}>
            Change sign-in
          </ActionButton>
        }
      />
      <Section
        id="about"
        title="About you"
        note="Name and e-mail are changed on the pages of the sign-in, which bring you back here."
        isCard
      >
        <Facts
          facts={[
            ['Name', displayName === '' ? 'none yet' : <Text text={displayName} limit={80} />],
            ['E-mail', <Address email={email} isVerified={page.isVerified} limit={80} />],
            ['Id', <Id id={visitor.id} what="operator id" />],
            ...(isAdmin ? [['Installation', 'You run it'] as const] : []),
          ]}
        />
        {!page.isVerified && page.hasMail && (
          <div class="actions">
            <ActionButton action={url(base, '/console/account/verify')}>Verify e-mail</ActionButton>
          </div>
        )}
      </Section>
      <Section
        id="ways"
        title="Ways in"
        note="Each is changed on the pages of the sign-in, which bring you back here."
      >
        <DataTable
          caption="By what you sign in"
          columns={wayColumns(base, now)}
          rows={waysIn(page.ways)}
          idOf={({ id }) => id}
        />
      </Section>
      <Section
        id="sessions"
        title="Sessions"
        note="A session that you do not know: end it, then change your password."
        aside={
          others > 0 && (
            <Confirm
              id="end-others"
              verb="Sign out everywhere else"
              question="Sign out everywhere else?"
              consequence="All sessions but this one end at once. Each may sign in again."
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
      <Section id="memberships" title="Where you may act">
        <DataTable
          caption="Tenants and the installation"
          columns={placeColumns(base, place?.kind === 'tenant' ? place.tenantId : place?.kind)}
          rows={placesOf(memberships, isAdmin)}
          idOf={({ id }) => id}
          empty={
            <EmptyState
              icon="team"
              sentence="You belong to no team."
              next="An owner of a team invites you by a link."
            />
          }
        />
      </Section>
    </>
  )
}

interface WayLine {
  id: string
  name: string
  section: AccountSection
  /** On the button that leads to it. */
  verb: 'Change' | 'Set up'
  mark: { tone: Tone; word: string }
  since: number | undefined
}

function waysIn({ password, authenticator, recoveryCodes, accounts }: WaysIn): WayLine[] {
  const line = (section: AccountSection, name: string, set: { since: number } | undefined) => ({
    id: section,
    section,
    name,
    verb: set ? ('Change' as const) : ('Set up' as const),
    mark: set ? SET : UNSET,
    since: set?.since,
  })
  return [
    line('password', 'Password', password),
    line('totp', 'Authenticator', authenticator),
    // Without an authenticator there is nothing that they would stand in for.
    ...(authenticator || recoveryCodes
      ? [
          {
            ...line('lookup_secret', 'Recovery codes', recoveryCodes),
            mark: recoveryCodes ? codesMark(recoveryCodes) : NO_CODES,
          },
        ]
      : []),
    ...accounts.map(({ provider, since }) => ({
      ...line('oidc', METHODS[provider] ?? provider, { since }),
      id: provider,
      mark: LINKED,
    })),
  ]
}

const SET = { tone: 'good', word: 'set' } as const
const UNSET = { tone: 'quiet', word: 'not set up' } as const
const LINKED = { tone: 'good', word: 'linked' } as const
const NO_CODES = { tone: 'warn', word: 'none: a lost authenticator would lock you out' } as const
const FEW_CODES = 3

const codesMark = ({ left, all }: { left: number; all: number }) => ({
  tone: left < FEW_CODES ? ('warn' as const) : ('good' as const),
  word: `${left} of ${all} left`,
})

const wayColumns = (base: string, now: number): Column<WayLine>[] => [
  { label: 'Way', isWide: true, cell: ({ name }) => name },
  { label: 'State', narrow: 'corner', cell: ({ mark }) => <StatusMark {...mark} /> },
  {
    label: 'Since',
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
  code: 'code by mail',
  link: 'link',
  totp: 'authenticator',
  lookup_secret: 'recovery code',
  oidc: 'account elsewhere',
  'github-tenant': 'GitHub',
  'google-tenant': 'Google',
}

const inWords = (methods: readonly string[]): string =>
  methods.map((method) => METHODS[method] ?? method).join(' and ') || '–'

const wordsFor = (sessions: readonly SessionLine[]): string => {
  const own = sessions.find(({ isThis }) => isThis)
  return own ? `by ${inWords(own.methods)}` : 'here'
}

const elsewhere = (count: number): string =>
  count === 1 ? 'in one other session' : `in ${count} other sessions`

const sessionColumns = (base: string, now: number): Column<SessionLine>[] => [
  {
    label: 'Device',
    isWide: true,
    cell: ({ device }) => device ?? 'Unknown device',
  },
  {
    label: 'Place',
    isMono: true,
    cell: ({ address }) => <Text text={address ?? 'unknown'} limit={64} />,
  },
  { label: 'By', cell: ({ methods }) => inWords(methods) },
  { label: 'Since', align: 'right', cell: ({ since }) => <Time at={since} now={now} /> },
  { label: 'Ends', align: 'right', cell: ({ until }) => <Time at={until} now={now} /> },
  {
    label: 'Action',
    align: 'right',
    narrow: 'bare',
    cell: ({ id, isThis, device }) =>
      isThis ? (
        <StatusMark tone="good" word="this one" />
      ) : (
        <ActionButton isSmall action={url(base, `/console/account/sessions/${id}/end`)}>
          End<span class="unseen"> the session of {device ?? 'an unknown device'}</span>
        </ActionButton>
      ),
  },
]

interface PlaceLine {
  /** As the switcher knows it. */
  id: string
  name: string
  role: string
}

const placesOf = (memberships: readonly MembershipRow[], isAdmin: boolean): PlaceLine[] => [
  ...memberships.map(({ tenantId: id, tenantName: name, role }) => ({ id, name, role })),
  ...(isAdmin ? [{ id: 'installation', name: 'Installation', role: 'admin' }] : []),
]

const placeColumns = (base: string, current: string | undefined): Column<PlaceLine>[] => [
  { label: 'Place', isWide: true, cell: ({ name }) => <Text text={name} limit={64} /> },
  { label: 'Role', cell: ({ role }) => role },
  {
    label: 'Action',
    align: 'right',
    narrow: 'bare',
    cell: ({ id, name }) =>
      id === (current === 'instance' ? 'installation' : current) ? (
        <StatusMark tone="good" word="acting here" />
      ) : (
        <ActionButton isSmall action={url(base, FRAME_PATHS.place)} fields={{ place: id }}>
          Act here
          <span class="unseen">
            , in <Text text={name} limit={48} />
          </span>
        </ActionButton>
      ),
  },
]
