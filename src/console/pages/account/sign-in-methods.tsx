import { Marked } from '../../../../views/provider-marks.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import type { OperatorSignInMethods } from '../../../engines/gate/operators/sign-in-methods.ts'
import { usePage } from '../../page.tsx'

/** Sections of the hosted settings page. */
export const SECTIONS = ['password', 'totp', 'lookup_secret', 'oidc'] as const

/** What people call the methods of a session. */
export const METHOD_NAMES: Readonly<Record<string, string>> = {
  password: 'password',
  code: 'email code',
  link: 'sign-in link',
  totp: 'authenticator app',
  lookup_secret: 'recovery code',
  oidc: 'social login',
  'github-tenant': 'GitHub',
  'google-tenant': 'Google',
}

/** How the operator can sign in, with links to the settings page that changes it. */
export const SignInMethods = ({ methods }: { methods: OperatorSignInMethods }) => (
  <DataTable
    caption="Sign-in methods"
    columns={COLUMNS}
    rows={rowsOf(methods)}
    idOf={({ id }) => id}
  />
)

interface SignInMethodRow {
  id: string
  name: string
  section: (typeof SECTIONS)[number]
  /** Label of the button. */
  verb: 'Change' | 'Set up'
  badge: { tone: Tone; word: string }
  since: number | undefined
}

function rowsOf({
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
      ...rowOf('oidc', METHOD_NAMES[provider] ?? provider, { since }),
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

const COLUMNS: Column<SignInMethodRow>[] = [
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
