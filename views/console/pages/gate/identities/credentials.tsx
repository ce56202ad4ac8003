import { PROVIDERS } from '../../../../../src/config/index.ts'
import type { IdentityDetail } from '../../../../../src/engines/gate/identities/model.ts'
import { providerName } from '../../../../../src/engines/gate/sign-in/flows/ui/providers.ts'
import { Confirm } from '../../../confirm.tsx'
import { type Column, DataTable } from '../../../data-table.tsx'
import { EmptyState } from '../../../empty-state.tsx'
import { LinkButton } from '../../../form/button.tsx'
import { Section } from '../../../section.tsx'
import { Text } from '../../../text.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { IDENTITIES } from './badges.tsx'
import type { IdentityView } from './identity-view.ts'

type Credential = IdentityDetail['credentials'][string]

/** A sign-in method. Each social login is a method of its own. */
interface CredentialRow {
  id: string
  label: string
  knownAs: string
  since?: string
  changed?: string
  removal?: Removal
}

interface Removal {
  /** Path below the user's page. */
  path: string
  verb: string
  consequence: string
}

const ACCOUNT = {
  label: 'Social login',
  verb: 'Remove social login',
  consequence: 'They can connect it again after they sign in with another method.',
}

/** Label of each credential, and the consequences of removing it. */
const CREDENTIALS: Record<string, { label: string; verb: string; consequence: string }> = {
  password: {
    label: 'Password',
    verb: 'Remove password',
    consequence: 'They can set a new password with a code that is emailed to them.',
  },
  totp: {
    label: 'Authenticator app',
    verb: 'Remove authenticator app',
    consequence:
      'Also removes the recovery codes. They sign in without two-factor authentication until they set it up again.',
  },
  lookup_secret: {
    label: 'Recovery codes',
    verb: 'Remove recovery codes',
    consequence: 'Their existing recovery codes stop working.',
  },
  oidc: ACCOUNT,
}

export const nameOfCredential = (type: string): string => CREDENTIALS[type]?.label ?? type

/** Sign-in methods of a user, which can be removed. */
export const Credentials = (page: IdentityView) => {
  const { base, now, identity, mayChange } = page
  return (
    <Section
      id="credentials"
      title="Sign-in methods"
      aside={mayChange && identity.state === 'active' && <RecoveryMail {...page} />}
    >
      <DataTable<CredentialRow>
        caption="Sign-in methods"
        rows={credentialRows(page)}
        idOf={({ id }) => id}
        columns={[
          { label: 'Method', cell: ({ label }) => label },
          { label: 'Identifier', isWide: true, cell: ({ knownAs }) => <Text text={knownAs} /> },
          { label: 'Added', align: 'right', cell: ({ since }) => timeOf(since, now) },
          { label: 'Updated', align: 'right', cell: ({ changed }) => timeOf(changed, now) },
          ...(mayChange ? [removalColumn(base, identity.id)] : []),
        ]}
        empty={
          <EmptyState
            icon="signIn"
            sentence="No sign-in methods yet"
            next="They can set a password with account recovery, or use an email code if it is enabled."
            action={
              <LinkButton href={url(base, '/console/sign-in')}>View sign-in methods</LinkButton>
            }
          />
        }
      />
    </Section>
  )
}

const RecoveryMail = ({ base, identity }: IdentityView) => (
  <Confirm
    id="recover"
    verb="Send recovery email"
    question="Send a recovery email?"
    consequence="Emails them a code and a link. When they set a new password, all their sessions end."
    action={url(base, `${IDENTITIES}/${identity.id}/recover`)}
    isHarmless
  />
)

const timeOf = (at: string | undefined, now: number) =>
  at === undefined ? '–' : <Time at={Date.parse(at)} now={now} />

function credentialRows({ identity, hasCode }: IdentityView): CredentialRow[] {
  const { oidc, ...others } = identity.credentials
  return [
    ...Object.values(others).map(credentialRow),
    ...(hasCode && identity.state === 'active' ? [codeByMail(identity)] : []),
    ...(oidc ? oidc.identifiers.map((account) => accountOf(account, oidc)) : []),
  ]
}

function credentialRow({
  type,
  identifiers,
  created_at: since,
  updated_at: changed,
}: Credential): CredentialRow {
  const known = CREDENTIALS[type]
  return {
    id: type,
    label: nameOfCredential(type),
    knownAs: type === 'password' ? identifiers.join(', ') : '',
    since,
    ...(changed !== since && { changed }),
    ...(known && { removal: { ...known, path: `credentials/${type}/remove` } }),
  }
}

const codeByMail = ({ traits }: IdentityDetail): CredentialRow => ({
  id: 'code',
  label: 'Email code',
  knownAs: traits.email,
})

/** Social login from an identifier such as `github:583231`. */
function accountOf(account: string, { created_at: since }: Credential): CredentialRow {
  const colon = account.indexOf(':')
  const provider = account.slice(0, colon)
  const known = PROVIDERS.find((one) => one === provider)
  return {
    id: account,
    label: known ? providerName(known) : provider,
    knownAs: account.slice(colon + 1),
    since,
    removal: { ...ACCOUNT, path: `accounts/${provider}/remove` },
  }
}

const removalColumn = (base: string, id: string): Column<CredentialRow> => ({
  label: '',
  align: 'right',
  narrow: 'bare',
  cell: (row) =>
    row.removal && (
      <Confirm
        id={`remove-${row.id.replaceAll(/[^\w-]/g, '-')}`}
        verb={row.removal.verb}
        question={`${row.removal.verb}?`}
        consequence={row.removal.consequence}
        action={url(base, `${IDENTITIES}/${id}/${row.removal.path}`)}
      />
    ),
})
