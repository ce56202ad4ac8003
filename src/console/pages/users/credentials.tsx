import { Marked } from '../../../../views/provider-marks.tsx'
import { Confirm } from '../../../../views/ui/confirm.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { PROVIDERS } from '../../../config/index.ts'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import { providerName } from '../../../engines/gate/sign-in/flows/ui/providers.ts'
import { usePage } from '../../page.tsx'
import { NoMailServer } from '../no-mail-server.tsx'
import type { UserView } from './badges.tsx'

type Credential = IdentityDetail['credentials'][string]

/** A sign-in method. Each social login is a method of its own. */
interface CredentialRow {
  id: string
  label: string
  /** Of social login: the provider, whose mark is shown. */
  provider?: string
  knownAs: string
  since?: string
  changed?: string
  removal?: Removal
}

interface Removal {
  /** Name of the page's action. */
  path: string
  verb: string
  consequence: string
  /** The consequence if no emails can be sent. */
  withoutMail?: string
}

const ACCOUNT = {
  label: 'Social login',
  verb: 'Remove social login',
  consequence: 'They can connect it again after they sign in with another method.',
}

/** Label of each credential, and the consequences of removing it. */
const CREDENTIALS: Record<string, { label: string } & Omit<Removal, 'path'>> = {
  password: {
    label: 'Password',
    verb: 'Remove password',
    consequence: 'They can set a new password with a code that is emailed to them.',
    withoutMail: "They can't set a new password until this installation has a mail server.",
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
export function Credentials(user: Pick<UserView, 'identity' | 'hasCode'>) {
  const { may, href, mail } = usePage()
  const isRecoverable = may('change') && user.identity.state === 'active'
  return (
    <Section
      id="credentials"
      title="Sign-in methods"
      {...(isRecoverable && !mail.hasServer && { note: <RecoveryNeedsMail /> })}
      aside={isRecoverable && mail.hasServer && <RecoveryMail />}
    >
      <DataTable<CredentialRow>
        caption="Sign-in methods"
        rows={credentialRows(user)}
        idOf={({ id }) => id}
        columns={[...COLUMNS, ...(may('change') ? [REMOVAL] : [])]}
        empty={
          <EmptyState
            icon="signIn"
            sentence="No sign-in methods yet"
            next={
              mail.hasServer
                ? 'They can set a password with account recovery, or use an email code if it is enabled.'
                : 'They can use social login if it is enabled.'
            }
            action={<LinkButton href={href('/sign-in')}>View sign-in methods</LinkButton>}
          />
        }
      />
    </Section>
  )
}

const RecoveryNeedsMail = () => (
  <>
    Recovery emails can't be sent yet. <NoMailServer /> Until then, users who lost their password
    can use social login, or you delete the user and create a new one with a password.
  </>
)

const RecoveryMail = () => (
  <Confirm
    id="recover"
    verb="Send recovery email"
    question="Send a recovery email?"
    consequence="Emails them a code and a link. When they set a new password, all their sessions end."
    action={usePage().actionHref('recover')}
    isHarmless
  />
)

const timeOf = (at: string | undefined) => (at === undefined ? '–' : <Time at={Date.parse(at)} />)

const COLUMNS: Column<CredentialRow>[] = [
  {
    label: 'Method',
    cell: ({ label, provider }) => (provider ? <Marked provider={provider} name={label} /> : label),
  },
  { label: 'Identifier', isWide: true, cell: ({ knownAs }) => <Text text={knownAs} /> },
  { label: 'Added', align: 'right', cell: ({ since }) => timeOf(since) },
  { label: 'Updated', align: 'right', cell: ({ changed }) => timeOf(changed) },
]

function credentialRows({
  identity,
  hasCode,
}: Pick<UserView, 'identity' | 'hasCode'>): CredentialRow[] {
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
    provider,
    knownAs: account.slice(colon + 1),
    since,
    removal: { ...ACCOUNT, path: `accounts/${provider}/remove` },
  }
}

const REMOVAL: Column<CredentialRow> = {
  label: 'Action',
  align: 'right',
  narrow: 'bare',
  cell: (row) =>
    row.removal && (
      <Confirm
        id={`remove-${row.id.replaceAll(/[^\w-]/g, '-')}`}
        verb={row.removal.verb}
        question={`${row.removal.verb}?`}
        consequence={consequenceOf(row.removal)}
        action={usePage().actionHref(row.removal.path)}
      />
    ),
}

const consequenceOf = ({ consequence, withoutMail = consequence }: Removal): string =>
  usePage().mail.hasServer ? consequence : withoutMail
