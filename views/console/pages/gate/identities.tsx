import type { IdentityDetail } from '../../../../src/engines/gate/model/identities.ts'
import type { Session } from '../../../../src/engines/gate/model/sessions.ts'
import type { Fields } from '../../../../src/http/body.ts'
import type { Page } from '../../../../src/platform/cursor.ts'
import type { Device } from '../../../../src/platform/device.ts'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { type Fact, Facts } from '../../facts.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { ActionButton, Button, LinkButton } from '../../form/button.tsx'
import { Checkbox } from '../../form/choices.tsx'
import { ErrorSummary, type FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { Textarea } from '../../form/textarea.tsx'
import { Id } from '../../id.tsx'
import { JsonView } from '../../json-view.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { FilterChips } from '../../tabs.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'

const PATH = '/console/identities'

/** What has just been done to somebody. */
export type DoneTo =
  | 'created'
  | 'metadata'
  | 'active'
  | 'inactive'
  | 'credential'
  | 'session'
  | 'sessions'

type State = IdentityDetail['state']

interface Asked {
  q: string
  state: State | undefined
  cursor: string | undefined
}

interface Counts {
  active: number
  inactive: number
  /** From here on nobody has counted. */
  most: number
}

/** The people of a tenant. */
export const IdentitiesPage = (page: {
  base: string
  now: number
  found: Page<IdentityDetail>
  errors?: readonly FormError[]
  asked: Asked
  counts: Counts
  mayChange: boolean
}) => {
  const { base, now, found, asked, counts, mayChange } = page
  const { q, state, cursor } = asked
  const href = (of: Partial<Asked> = {}) => url(base, PATH, { q, state, ...of })
  const isFiltered = q !== '' || state !== undefined
  const create = (
    <LinkButton weight="primary" href={url(base, `${PATH}/new`)}>
      New identity
    </LinkButton>
  )
  return (
    <>
      <PageHead
        title="Identities"
        state={{ sentence: sentenceOn(counts) }}
        action={mayChange && create}
      />
      <ErrorSummary errors={page.errors ?? []} />
      <FilterChips
        label="States"
        tabs={[
          { label: 'All', href: href({ state: undefined }), isCurrent: !state },
          chip('Active', 'active', asked, counts, href),
          chip('Inactive', 'inactive', asked, counts, href),
        ]}
      />
      <FilterBar
        action={url(base, PATH)}
        search={{ label: 'Id, or how the e-mail begins', value: q }}
        kept={{ state }}
        clearHref={isFiltered ? url(base, PATH) : undefined}
      />
      <DataTable
        caption="Identities"
        columns={columns(now)}
        rows={found.data}
        hrefOf={({ id }) => url(base, `${PATH}/${id}`)}
        idOf={({ id }) => id}
        pages={{
          newerHref: cursor ? href() : undefined,
          olderHref: found.next_cursor === null ? undefined : href({ cursor: found.next_cursor }),
        }}
        empty={
          isFiltered || cursor ? (
            <EmptyState
              icon="search"
              sentence="Nobody answers to that."
              next="The search knows whole ids and the beginnings of addresses."
              action={<LinkButton href={url(base, PATH)}>Show all</LinkButton>}
            />
          ) : (
            <EmptyState
              icon="identities"
              sentence="Nobody yet."
              next="People come by signing up, or you make them here or by the API."
              action={mayChange && create}
            />
          )
        }
      />
    </>
  )
}

const chip = (
  label: string,
  of: State,
  { state }: Asked,
  counts: Counts,
  href: (of: Partial<Asked>) => string,
) => ({
  label,
  href: href({ state: of }),
  isCurrent: state === of,
  ...(counts[of] < counts.most && { count: counts[of] }),
})

function sentenceOn({ active, inactive, most }: Counts): string {
  const number = (count: number) =>
    count < most ? count.toLocaleString('en') : `${most.toLocaleString('en')} or more`
  if (active + inactive === 0) return 'Nobody can sign in yet.'
  const can = `${number(active)} can sign in`
  return inactive === 0 ? `${can}.` : `${can}, ${number(inactive)} cannot: they are inactive.`
}

const columns = (now: number): Column<IdentityDetail>[] => [
  { label: 'E-mail', isWide: true, cell: ({ traits }) => <Text text={traits.email} /> },
  { label: 'State', narrow: 'corner', cell: (identity) => <StateMark {...identity} /> },
  {
    label: 'Address',
    cell: ({ verifiable_addresses: [address] }) => (
      <VerifiedMark isVerified={address?.verified ?? false} />
    ),
  },
  { label: 'Signs in by', cell: ({ credentials }) => <Text text={waysIn(credentials)} /> },
  {
    label: 'Created',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]

const StateMark = ({ state }: Pick<IdentityDetail, 'state'>) =>
  state === 'active' ? (
    <StatusMark tone="good" word="active" />
  ) : (
    <StatusMark tone="quiet" word="inactive" />
  )

const VerifiedMark = ({ isVerified }: { isVerified: boolean }) =>
  isVerified ? (
    <StatusMark tone="good" word="verified" />
  ) : (
    <StatusMark tone="warn" word="not verified" />
  )

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
  oidc: {
    label: 'Accounts elsewhere',
    verb: 'Remove accounts',
    consequence: 'All of them go. They can connect them again once they have signed in.',
  },
}

const nameOf = (type: string): string => CREDENTIALS[type]?.label ?? type

const waysIn = (credentials: IdentityDetail['credentials']): string => {
  const types = Object.keys(credentials)
  return types.length === 0 ? 'nothing yet' : types.map(nameOf).join(', ')
}

const textIn = (fields: Fields | undefined, name: string): string | undefined => {
  const value = fields?.[name]
  return typeof value === 'string' ? value : undefined
}

const messageIn = (errors: readonly FormError[] | undefined, name: string) =>
  errors?.find((error) => error.name === name)?.message

/** Somebody whom the tenant already knows. */
export const NewIdentityPage = (page: {
  base: string
  typed?: Fields
  errors?: readonly FormError[]
}) => {
  const { base, typed, errors } = page
  return (
    <>
      <PageHead
        title="New identity"
        state={{ sentence: 'For somebody you know already. Nothing is mailed to them.' }}
      />
      <Form
        action={url(base, PATH)}
        errors={errors}
        buttons={<Button weight="primary">Create identity</Button>}
      >
        <Field
          name="email"
          label="E-mail"
          type="email"
          value={textIn(typed, 'email')}
          error={messageIn(errors, 'email')}
          isRequired
        />
        <Checkbox
          name="verified"
          label="The address is proven to be theirs"
          isChecked={textIn(typed, 'verified') !== undefined}
          help="Tick it where you have made sure of that yourself."
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="new-password"
          error={messageIn(errors, 'password')}
          isRequired={false}
          help="Without one they sign in by a code or an account elsewhere, or set one by recovery."
        />
        <Textarea
          name="metadata"
          label="Metadata"
          isMono
          rows={6}
          isRequired={false}
          value={textIn(typed, 'metadata')}
          error={messageIn(errors, 'metadata')}
          help='A JSON object, such as {"roles": ["admin"]}. The person can read it and not change it.'
        />
      </Form>
    </>
  )
}

type SessionSeen = Session & { device: Device | null }

interface IdentityView {
  base: string
  now: number
  identity: IdentityDetail
  sessions: readonly SessionSeen[]
  mayChange: boolean
  mayDelete: boolean
  /** Metadata that came back as wrong. */
  typed?: string
  errors?: readonly FormError[]
}

/** One person, from all sides. */
export const IdentityPage = (page: IdentityView) => {
  const { base, now, identity, sessions } = page
  const isActive = identity.state === 'active'
  const audit = url(base, '/console/audit', { object: `identity:${identity.id}` })
  return (
    <>
      <PageHead
        title={<Text text={identity.traits.email} />}
        state={{
          tone: isActive ? 'good' : 'quiet',
          sentence: sentenceOnPerson(identity, sessions),
        }}
        aside={<LinkButton href={audit}>What happened</LinkButton>}
      />
      <Section id="who" title="Who" isCard>
        <Facts facts={factsOf(identity, now)} />
      </Section>
      {identity.traits.custom_data && (
        <Section id="custom" title="Custom data" note="They can change it themselves.">
          <JsonView title="traits.custom_data" value={identity.traits.custom_data} />
        </Section>
      )}
      <Credentials {...page} />
      <Sessions {...page} />
      <Metadata {...page} />
      <Section id="raw" title="As the API answers">
        <JsonView title="Identity" value={identity} />
      </Section>
      <Endings {...page} />
    </>
  )
}

function sentenceOnPerson({ state }: IdentityDetail, sessions: readonly SessionSeen[]): string {
  if (state === 'inactive') return 'Inactive: cannot sign in, and is signed in nowhere.'
  const [latest] = sessions
  if (!latest) return 'Can sign in, and is signed in nowhere.'
  const places = sessions.length === 1 ? 'on one device' : `by ${sessions.length} sessions`
  return `Signed in ${places}, last on ${deviceName(latest.device)}.`
}

function factsOf(identity: IdentityDetail, now: number): Fact[] {
  const [address] = identity.verifiable_addresses
  const time = (at: string) => <Time at={Date.parse(at)} now={now} />
  return [
    ['Id', <Id id={identity.id} what="identity id" />],
    ['State', <StateMark {...identity} />],
    ['E-mail', <Text text={identity.traits.email} />],
    ['Address', <VerifiedMark isVerified={address?.verified ?? false} />],
    ...(address?.verified_at ? [['Verified', time(address.verified_at)] as const] : []),
    ['Created', time(identity.created_at)],
    ['Changed', time(identity.updated_at)],
    ...(identity.state === 'inactive'
      ? [['Inactive since', time(identity.state_changed_at)] as const]
      : []),
  ]
}

type Credential = IdentityDetail['credentials'][string]

const Credentials = ({ base, now, identity, mayChange }: IdentityView) => {
  const credentials = Object.values(identity.credentials)
  return (
    <Section id="credentials" title="How they sign in">
      <DataTable<Credential>
        caption="Credentials"
        rows={credentials}
        idOf={({ type }) => type}
        columns={[
          { label: 'Way', cell: ({ type }) => nameOf(type) },
          {
            label: 'Known as',
            isWide: true,
            cell: ({ type, identifiers }) =>
              type === 'password' || type === 'oidc' ? <Text text={identifiers.join(', ')} /> : '–',
          },
          {
            label: 'Since',
            align: 'right',
            cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
          },
          ...(mayChange ? [removal(base, identity.id)] : []),
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

const removal = (base: string, id: string): Column<Credential> => ({
  label: '',
  align: 'right',
  narrow: 'bare',
  cell: ({ type }) => {
    const known = CREDENTIALS[type]
    return (
      known && (
        <Confirm
          id={`remove-${type}`}
          verb={known.verb}
          question={`${known.verb}?`}
          consequence={known.consequence}
          action={url(base, `${PATH}/${id}/credentials/${type}/remove`)}
        />
      )
    )
  },
})

const Sessions = ({ base, now, identity, sessions, mayChange }: IdentityView) => (
  <Section
    id="sessions"
    title="Where they are signed in"
    aside={
      mayChange &&
      sessions.length > 0 && (
        <Confirm
          id="revoke-all"
          verb="End all sessions"
          question="End all sessions?"
          consequence="They have to sign in again everywhere. Access tokens live until they run out."
          action={url(base, `${PATH}/${identity.id}/sessions/revoke`)}
        />
      )
    }
  >
    <DataTable<SessionSeen>
      caption="Sessions"
      rows={sessions}
      idOf={({ id }) => id}
      columns={[
        { label: 'Device', cell: ({ device }) => deviceName(device) },
        {
          label: 'Address',
          isMono: true,
          cell: ({ devices: [device] }) => <Text text={device?.ip_address ?? ''} />,
        },
        {
          label: 'By',
          isWide: true,
          cell: ({ authentication_methods: methods }) =>
            methods.map(({ method }) => METHODS[method] ?? method).join(', '),
        },
        {
          label: 'Signed in',
          align: 'right',
          cell: ({ authenticated_at: at }) => <Time at={Date.parse(at)} now={now} />,
        },
        {
          label: 'Ends',
          align: 'right',
          cell: ({ expires_at: at }) => <Time at={Date.parse(at)} now={now} />,
        },
        ...(mayChange ? [ending(base, identity.id)] : []),
      ]}
      empty={<p class="hint">Signed in nowhere.</p>}
    />
  </Section>
)

const METHODS: Record<string, string> = {
  password: 'password',
  code: 'code by mail',
  code_recovery: 'recovery by mail',
  totp: 'authenticator',
  lookup_secret: 'recovery code',
  oidc: 'account elsewhere',
}

const deviceName = (device: Device | null): string => {
  if (!device) return 'an unknown device'
  const { browser, system } = device
  return browser && system ? `${browser} on ${system}` : (browser ?? system ?? '')
}

const ending = (base: string, id: string): Column<SessionSeen> => ({
  label: '',
  align: 'right',
  narrow: 'bare',
  cell: (session) => (
    <ActionButton isSmall action={url(base, `${PATH}/${id}/sessions/${session.id}/revoke`)}>
      End session
    </ActionButton>
  ),
})

const Metadata = ({ base, identity, mayChange, typed, errors }: IdentityView) => (
  <Section
    id="metadata"
    title="Metadata"
    note="What you know of them. They can read it and not change it; policies can ask for it."
  >
    {mayChange ? (
      <Form
        action={url(base, `${PATH}/${identity.id}/metadata`)}
        errors={errors}
        hidden={{ seen: identity.updated_at }}
        buttons={<Button>Save metadata</Button>}
      >
        <Textarea
          name="metadata"
          label="A JSON object"
          isMono
          rows={8}
          value={typed ?? JSON.stringify(identity.metadata_public, null, 2)}
          error={messageIn(errors, 'metadata')}
        />
      </Form>
    ) : (
      <JsonView title="Metadata" value={identity.metadata_public} />
    )}
  </Section>
)

const Endings = ({ base, identity, mayChange, mayDelete }: IdentityView) => {
  const action = (verb: string) => url(base, `${PATH}/${identity.id}/${verb}`)
  const items = [
    ...(mayChange && identity.state === 'active'
      ? [
          {
            title: 'Deactivate them',
            text: 'They cannot sign in until somebody activates them again.',
            control: (
              <Confirm
                id="deactivate"
                verb="Deactivate"
                question="Deactivate this person?"
                consequence="All their sessions and access tokens end, and do not come back with them."
                action={action('deactivate')}
              />
            ),
          },
        ]
      : []),
    ...(mayChange && identity.state === 'inactive'
      ? [
          {
            title: 'Activate them',
            text: 'They can sign in again.',
            control: <ActionButton action={action('activate')}>Activate</ActionButton>,
          },
        ]
      : []),
    ...(mayDelete
      ? [
          {
            title: 'Delete them',
            text: 'Everything that is known of them goes, but the audit log. This cannot be taken back.',
            control: (
              <Confirm
                id="delete"
                verb="Delete identity"
                question="Delete this person?"
                consequence="They are gone at once; mails and deliveries about them are cleared away behind."
                action={action('delete')}
              />
            ),
          },
        ]
      : []),
  ]
  return items.length === 0 ? null : <DangerZone items={items} />
}
