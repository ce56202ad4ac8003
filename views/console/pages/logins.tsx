import type {
  LoginRecord,
  LoginState,
  PersonRecord,
} from '../../../src/engines/passepartout/index.ts'
import type { Environment } from '../../../src/platform/engines.ts'
import { CodeBlock } from '../code-block.tsx'
import { Confirm, DangerZone } from '../confirm.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { Facts } from '../facts.tsx'
import { FilterBar } from '../filter-bar.tsx'
import { LinkButton } from '../form/button.tsx'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import type { Pages } from '../pager.tsx'
import { Section } from '../section.tsx'
import { StatusMark } from '../status-mark.tsx'
import { FilterChips, Tabs } from '../tabs.tsx'
import { Text } from '../text.tsx'
import { relative, Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import { url } from '../url.ts'

/** How often a page looks whether a sign-in has moved on: it ends with the element that asks. */
const POLL = 'every 2s'

const CHIPS: Record<LoginState, string> = {
  pending: 'Not opened',
  opened: 'Not answered',
  approved: 'Approved',
  denied: 'Denied',
  mismatched: 'Wrong number',
}

type Look = Pick<LoginRecord, 'state' | 'is_expired'>

const MARKS: Record<LoginState, { tone: Tone; word: string }> = {
  pending: { tone: 'busy', word: 'waiting' },
  opened: { tone: 'busy', word: 'opened' },
  approved: { tone: 'good', word: 'approved' },
  denied: { tone: 'bad', word: 'denied' },
  mismatched: { tone: 'bad', word: 'wrong number' },
}

const markOf = ({ state, is_expired: isExpired }: Look) =>
  isExpired ? ({ tone: 'quiet', word: 'expired' } as const) : MARKS[state]

/** Attempts, and those who came of them: two views of signing in. */
const Views = ({ base, current }: { base: string; current: 'attempts' | 'users' }) => (
  <Tabs
    label="Views"
    tabs={[
      {
        label: 'Sign-ins',
        href: url(base, '/console/logins'),
        isCurrent: current === 'attempts',
      },
      {
        label: 'Users',
        href: url(base, '/console/logins/users'),
        isCurrent: current === 'users',
      },
    ]}
  />
)

/** Attempts to sign in, newest first. */
export const LoginsPage = (page: {
  base: string
  environment: Environment
  logins: readonly LoginRecord[]
  state: LoginState | undefined
  isFirst: boolean
  pages: Pages
  now: number
}) => {
  const { base, logins, state, now } = page
  const href = (of?: string) => url(base, '/console/logins', { state: of })
  return (
    <>
      <PageHead title="Logins" state={{ sentence: sentenceOnAll(page) }} />
      <Views base={base} current="attempts" />
      <FilterChips
        label="States"
        tabs={[
          { label: 'All', href: href(), isCurrent: state === undefined },
          ...Object.entries(CHIPS).map(([of, label]) => ({
            label,
            href: href(of),
            isCurrent: of === state,
          })),
        ]}
      />
      <DataTable
        caption="Sign-ins"
        columns={columns(now)}
        rows={logins}
        hrefOf={({ id }) => url(base, `/console/logins/${id}`)}
        idOf={({ id }) => id}
        pages={page.pages}
        empty={
          <EmptyState
            icon="logins"
            sentence={
              state === undefined
                ? `No sign-in in ${page.environment} data yet.`
                : `No sign-in in this state: ${CHIPS[state].toLowerCase()}.`
            }
            next="An app starts one, and somebody approves it in the messenger. A test login of the bot does the same."
            action={
              <LinkButton weight="primary" href={url(base, `/console/bots/${page.environment}`)}>
                Show bot
              </LinkButton>
            }
          />
        }
      />
    </>
  )
}

function sentenceOnAll(page: Parameters<typeof LoginsPage>[0]) {
  const { logins, state, isFirst, now } = page
  const [latest] = logins
  if (!latest) return state ? 'None in this state.' : 'Nobody has tried to sign in yet.'
  if (state !== undefined || !isFirst)
    return `${logins.length} shown, started up to ${relative(Date.parse(latest.created_at), now)}.`
  const count = (fits: (login: LoginRecord) => boolean) => logins.filter(fits).length
  const parts = [
    `${count((one) => one.state === 'approved')} approved`,
    `${count((one) => one.state === 'denied' || one.state === 'mismatched')} refused`,
    `${count((one) => one.is_expired)} expired`,
  ]
  const of = logins.length === 1 ? 'the latest sign-in' : `the latest ${logins.length} sign-ins`
  return `Of ${of}: ${parts.join(', ')}.`
}

const deviceWords = ({ device }: Pick<LoginRecord, 'device'>): string =>
  [device?.browser, device?.system].filter(Boolean).join(' on ')

const columns = (now: number): Column<LoginRecord>[] => [
  {
    label: 'From',
    isWide: true,
    cell: (login) => (
      <Text
        text={login.client_label ?? (deviceWords(login) || login.client_ip) ?? 'Sign-in'}
        limit={48}
      />
    ),
  },
  { label: 'State', narrow: 'corner', cell: (login) => <StatusMark {...markOf(login)} /> },
  { label: 'Device', cell: (login) => <Text text={deviceWords(login)} limit={40} /> },
  {
    label: 'Address',
    isMono: true,
    narrow: 'hidden',
    cell: ({ client_ip: ip }) => (ip ? <Text text={ip} /> : '–'),
  },
  {
    label: 'Ended',
    align: 'right',
    cell: ({ ended_at: at }) => (at === null ? '–' : <Time at={Date.parse(at)} now={now} />),
  },
  {
    label: 'Started',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]

/** One attempt: what happened, from where it came, why it ended. It follows along while it waits. */
export const LoginPage = (page: {
  base: string
  login: LoginRecord
  /** Whoever approved it, as long as they are known. */
  user: PersonRecord | undefined
  /** How to take part in it, for whoever has just started it. */
  invitation: { link: string; qrCode: string } | undefined
  /** The address of this very page. */
  here: string
  now: number
}) => {
  const { base, login, user, invitation, here, now } = page
  const time = (at: string | null) =>
    at === null ? undefined : <Time at={Date.parse(at)} now={now} />
  const isWaiting = markOf(login).tone === 'busy'
  return (
    <div id="login">
      {isWaiting && (
        <span
          id="login-watch"
          hidden
          hx-get={here}
          hx-trigger={POLL}
          hx-target="#login"
          hx-select="#login"
          hx-swap="outerMorph"
        />
      )}
      <PageHead
        title={login.client_label ? <Text text={login.client_label} limit={64} /> : 'Sign-in'}
        state={{ tone: markOf(login).tone, sentence: sentenceOn(login, user, base) }}
        aside={isWaiting && <LinkButton href={here}>Look again</LinkButton>}
      />
      {invitation && <Invitation {...invitation} matchCode={login.match_code} />}
      <Section id="what" title="What happened" isCard>
        <Facts
          facts={[
            ['Started', time(login.created_at)],
            ['Opened', time(login.opened_at)],
            [login.state === 'approved' ? 'Approved' : 'Answered', time(login.ended_at)],
            [login.is_expired ? 'Expired' : 'Good until', time(login.expires_at)],
            ['Question put', timesOf(login.prompts)],
            ['User', user ? <UserLink base={base} user={user} /> : undefined],
          ]}
        />
      </Section>
      <Section id="where" title="Where it began" isCard>
        <Facts
          facts={[
            ['Label', login.client_label ? <Text text={login.client_label} /> : undefined],
            ['Device', deviceWords(login) || undefined],
            ['Address', login.client_ip ? <Text text={login.client_ip} /> : undefined],
            ['Number to match', login.match_code ?? 'none asked for'],
            ['Data', login.environment],
            [
              'Bot',
              <a href={url(base, `/console/bots/${login.environment}`)}>
                {login.environment === 'live' ? 'Live bot' : 'Test bot'}
              </a>,
            ],
            ['Id', <Id id={login.id} what="id of the sign-in" />],
          ]}
        />
      </Section>
    </div>
  )
}

const timesOf = (count: number): string =>
  count === 0 ? 'not yet' : count === 1 ? 'once' : `${count} times`

const Invitation = (of: { link: string; qrCode: string; matchCode: string | null }) => (
  <Section
    id="take-part"
    title="Take part"
    note="Follow the link, or point a phone at the code. Whoever opens it first is asked."
    aside={
      <a class="button primary" href={of.link} target="_blank" rel="noreferrer">
        Open link
      </a>
    }
    isCard
  >
    {of.matchCode !== null && (
      <p>
        The bot asks for this number: <strong>{of.matchCode}</strong>
      </p>
    )}
    <p>
      <img src={of.qrCode} width="256" height="256" alt="QR code of the link below" />
    </p>
    <CodeBlock title="Link" wraps>
      {of.link}
    </CodeBlock>
  </Section>
)

function sentenceOn(login: LoginRecord, user: PersonRecord | undefined, base: string) {
  if (login.is_expired)
    return login.state === 'pending'
      ? 'Expired: nobody opened the link in time.'
      : 'Expired: it was opened, and not answered in time.'
  switch (login.state) {
    case 'pending':
      return 'Waits: nobody has opened the link yet.'
    case 'opened':
      return 'Opened; the bot waits for an answer.'
    case 'approved':
      return user ? (
        <>
          Approved by <UserLink base={base} user={user} />.
        </>
      ) : (
        'Approved, by somebody who has been deleted since.'
      )
    case 'denied':
      return 'Denied: whoever was asked said that it was not them.'
    case 'mismatched':
      return 'Ended: a number was chosen that the app did not show.'
  }
}

const nameOf = (user: PersonRecord): string =>
  [user.first_name, user.last_name].filter(Boolean).join(' ')

const UserLink = ({ base, user }: { base: string; user: PersonRecord }) => (
  <a href={url(base, `/console/logins/users/${user.id}`)}>
    <Text text={nameOf(user)} limit={64} />
  </a>
)

/** Those who have signed in by messenger, newest first. */
export const LoginUsersPage = (page: {
  base: string
  environment: Environment
  users: readonly PersonRecord[]
  search: string
  isFirst: boolean
  pages: Pages
  now: number
}) => {
  const { base, users, search } = page
  const [latest] = users
  return (
    <>
      <PageHead
        title="Logins"
        state={{
          sentence: latest
            ? search || !page.isFirst
              ? `${users.length} ${users.length === 1 ? 'user' : 'users'} shown.`
              : `The latest user came ${relative(Date.parse(latest.created_at), page.now)}.`
            : search
              ? 'Nobody is known by that.'
              : 'Nobody has signed in yet.',
        }}
      />
      <Views base={base} current="users" />
      <FilterBar
        action={url(base, '/console/logins/users')}
        search={{ label: 'Id, account or @username, whole', value: search }}
        {...(search !== '' && { clearHref: url(base, '/console/logins/users') })}
      />
      <DataTable
        caption="Users"
        columns={userColumns(page.now)}
        rows={users}
        hrefOf={({ id }) => url(base, `/console/logins/users/${id}`)}
        idOf={({ id }) => id}
        pages={page.pages}
        empty={
          <EmptyState
            icon="team"
            sentence={
              search === ''
                ? `No user in ${page.environment} data yet.`
                : 'No user has this id, account or username.'
            }
            next="Whoever approves a sign-in is a user from then on, and the same one each time."
          />
        }
      />
    </>
  )
}

const userColumns = (now: number): Column<PersonRecord>[] => [
  { label: 'Name', isWide: true, cell: (user) => <Text text={nameOf(user)} limit={48} /> },
  {
    label: 'Username',
    cell: ({ username }) => (username ? <Text text={`@${username}`} limit={40} /> : '–'),
  },
  {
    label: 'Account',
    isMono: true,
    cell: ({ platform_user_id: id }) => <Text text={id} limit={40} />,
  },
  {
    label: 'First seen',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]

/** Somebody who has signed in, as their messenger tells of them. */
export const LoginUserPage = (page: {
  base: string
  user: PersonRecord
  mayDelete: boolean
  now: number
}) => {
  const { base, user, now } = page
  const time = (at: string) => <Time at={Date.parse(at)} now={now} />
  return (
    <>
      <PageHead
        title={<Text text={nameOf(user)} limit={64} />}
        state={{ sentence: <>Last told of by their messenger {time(user.updated_at)}.</> }}
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Id', <Id id={user.id} what="user id" />],
            ['Messenger', user.platform === 'sandbox' ? 'Test bot' : 'Telegram'],
            ['Account', <Id id={user.platform_user_id} what="account" />],
            ['Username', user.username ? <Text text={`@${user.username}`} /> : undefined],
            ['First name', <Text text={user.first_name} />],
            ['Last name', user.last_name ? <Text text={user.last_name} /> : undefined],
            [
              'Language',
              user.language_code ? <Text text={user.language_code} limit={16} /> : undefined,
            ],
            ['First seen', time(user.created_at)],
          ]}
        />
      </Section>
      {page.mayDelete && (
        <DangerZone
          items={[
            {
              title: 'Delete this user',
              text: 'Their tokens end. With the same account they come back as another user.',
              control: (
                <Confirm
                  id="delete"
                  verb="Delete user"
                  question="Delete this user?"
                  consequence="What is known of them is forgotten at once. Your app knows them no more by this id."
                  action={url(base, `/console/logins/users/${user.id}/delete`)}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}
