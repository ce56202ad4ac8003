import { PROVIDERS } from '../../../../../src/config/index.ts'
import { providerName } from '../../../../../src/engines/gate/flows/ui/providers.ts'
import type { IdentityDetail } from '../../../../../src/engines/gate/model/identities.ts'
import { Confirm } from '../../../confirm.tsx'
import { type Column, DataTable } from '../../../data-table.tsx'
import { EmptyState } from '../../../empty-state.tsx'
import { LinkButton } from '../../../form/button.tsx'
import { Section } from '../../../section.tsx'
import { Text } from '../../../text.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import type { IdentityView } from './identity.tsx'
import { IDENTITIES } from './marks.tsx'

type Credential = IdentityDetail['credentials'][string]

/** One way in, as somebody would count them: each account elsewhere is one. */
interface Way {
  id: string
  label: string
  knownAs: string
  since?: string
  changed?: string
  removal?: Removal
}

interface Removal {
  /** Below the identity's own address. */
  path: string
  verb: string
  consequence: string
}

const ACCOUNT = {
  label: 'Accounts elsewhere',
  verb: 'Remove account',
  consequence: 'They can connect it again once they have signed in otherwise.',
}

/** What each credential is called, and what the loss of it means. */
const CREDENTIALS: Record<string, { label: string; verb: string; consequence: string }> = {
  password: {
    label: 'Password',
    verb: 'Remove password',
    consequence: 'They can choose a new one by a code that is mailed to them.',
  },
  totp: {
    label: 'Authenticator',
    verb: 'Remove second factor',
    consequence:
      'The recovery codes go with it. From the next sign-in on, one factor is enough until they set up another.',
  },
  lookup_secret: {
    label: 'Recovery codes',
    verb: 'Remove recovery codes',
    consequence: 'Codes that they have written down are worth nothing any more.',
  },
  oidc: ACCOUNT,
}

export const nameOfCredential = (type: string): string => CREDENTIALS[type]?.label ?? type

/** How somebody signs in, and what can be taken away of it. */
export const Credentials = (page: IdentityView) => {
  const { base, now, identity, mayChange } = page
  return (
    <Section
      id="credentials"
      title="How they sign in"
      aside={mayChange && identity.state === 'active' && <RecoveryMail {...page} />}
    >
      <DataTable<Way>
        caption="Credentials"
        rows={waysOf(page)}
        idOf={({ id }) => id}
        columns={[
          { label: 'Way', cell: ({ label }) => label },
          { label: 'Known as', isWide: true, cell: ({ knownAs }) => <Text text={knownAs} /> },
          { label: 'Since', align: 'right', cell: ({ since }) => moment(since, now) },
          { label: 'Changed', align: 'right', cell: ({ changed }) => moment(changed, now) },
          ...(mayChange ? [removalColumn(base, identity.id)] : []),
        ]}
        empty={
          <EmptyState
            icon="signIn"
            sentence="Nothing to sign in with yet."
            next="They can set a password by recovery, or use a code that is mailed where that is on."
            action={
              <LinkButton href={url(base, '/console/sign-in')}>See how people sign in</LinkButton>
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
    verb="Mail recovery"
    question="Mail them a way back in?"
    consequence="A code and a link go to their address. With it they set a new password, and all their sessions end."
    action={url(base, `${IDENTITIES}/${identity.id}/recover`)}
    isHarmless
  />
)

const moment = (at: string | undefined, now: number) =>
  at === undefined ? '–' : <Time at={Date.parse(at)} now={now} />

function waysOf({ identity, hasCode }: IdentityView): Way[] {
  const { oidc, ...others } = identity.credentials
  return [
    ...Object.values(others).map(wayOf),
    ...(hasCode && identity.state === 'active' ? [codeByMail(identity)] : []),
    ...(oidc ? oidc.identifiers.map((account) => accountOf(account, oidc)) : []),
  ]
}

function wayOf({ type, identifiers, created_at: since, updated_at: changed }: Credential): Way {
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

const codeByMail = ({ traits }: IdentityDetail): Way => ({
  id: 'code',
  label: 'Code by mail',
  knownAs: traits.email,
})

/** As `github:583231`. */
function accountOf(account: string, { created_at: since }: Credential): Way {
  const colon = account.indexOf(':')
  const provider = account.slice(0, colon)
  const known = PROVIDERS.find((one) => one === provider)
  return {
    id: account,
    label: known ? providerName(known) : provider,
    knownAs: account.slice(colon + 1),
    since,
    removal: {
      ...ACCOUNT,
      path: `accounts/${provider}/remove`,
    },
  }
}

const removalColumn = (base: string, id: string): Column<Way> => ({
  label: '',
  align: 'right',
  narrow: 'bare',
  cell: (way) =>
    way.removal && (
      <Confirm
        id={`remove-${way.id.replaceAll(/[^\w-]/g, '-')}`}
        verb={way.removal.verb}
        question={`${way.removal.verb}?`}
        consequence={way.removal.consequence}
        action={url(base, `${IDENTITIES}/${id}/${way.removal.path}`)}
      />
    ),
})
