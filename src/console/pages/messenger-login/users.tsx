import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time, useTimes } from '../../../../views/ui/time.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { PersonRecord } from '../../../engines/passepartout/index.ts'
import type { Page } from '../../../platform/cursor.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListFilters, NoMatches, useList } from '../../list.tsx'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { LOGIN_COLUMNS, LoginTabs, nameOf } from './logins.tsx'

const ON_A_PAGE = 50
const SORTS = { created: 'desc', signed_in: 'desc' } as const

interface MessengerUsers {
  found: Page<PersonRecord>
  time: TimeFilter
}

/** Users who signed in by messenger. */
export const messengerUsers = page({
  path: '/logins/users',
  section: 'logins',
  hasEnvironments: true,
  right: 'read',
  title: 'Users',

  load(context): MessengerUsers {
    const { by } = sortingIn(context.query.sort, SORTS)
    return {
      found: matching(context, { cursor: context.position.cursor, limit: ON_A_PAGE }),
      time: timeFilterIn(context, { label: by === 'signed_in' ? 'Last sign-in' : 'First seen' }),
    }
  },

  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  view({ found, time }) {
    const { href, query } = usePage()
    const { isFiltered, isFirst, pagesTo, sortedBy } = useList()
    const isEmpty = found.data.length === 0 && !isFiltered && isFirst
    return (
      <>
        <PageHead
          title="Logins"
          state={{ sentence: <Summary users={found.data} /> }}
          aside={!isEmpty && <ExportMenu />}
        />
        <LoginTabs current="users" />
        <ListFilters
          search={{ label: 'Search by exact ID, messenger ID or @username' }}
          time={query.q ? undefined : time}
        />
        <DataTable
          caption="Users"
          columns={COLUMNS}
          rows={found.data}
          hrefOf={({ id }) => href(`/logins/users/${id}`)}
          idOf={({ id }) => id}
          pages={pagesTo(found.next_cursor)}
          {...(!query.q && { sorting: sortedBy(SORTS) })}
          empty={isEmpty ? <NoUsers /> : <NoMatches icon="team" noun="users" />}
        />
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'messenger-users',
      columns: {
        id: ({ id }) => id,
        platform: ({ platform }) => platform,
        platform_user_id: (user) => user.platform_user_id,
        username: ({ username }) => username,
        first_name: (user) => user.first_name,
        last_name: (user) => user.last_name,
        language_code: (user) => user.language_code,
        created_at: (user) => user.created_at,
        updated_at: (user) => user.updated_at,
      },
      slices: (context: PageContext) => pagesOf((of) => matching(context, of)),
    }),
  },
})

/** Users that match the search of the query string, or those of its time in its order. */
function matching(context: PageContext, of: { cursor: string | undefined; limit: number }) {
  const { passepartout, tenantId, environment, query } = context
  const { since, until } = timeFilterIn(context)
  return passepartout.queries.people(
    { tenantId, environment },
    { ...of, ...sortingIn(query.sort, SORTS), since, until, search: query.q || undefined },
  )
}

function Summary({ users }: { users: readonly PersonRecord[] }) {
  const { query } = usePage()
  const { isFiltered, isFirst } = useList()
  const [latest] = users
  if (!latest) return <>{isFiltered ? 'No matching users' : 'No users yet'}</>
  if (isFiltered || !isFirst || query.sort) return <>{counted(users.length, 'user')} on this page</>
  return <>Newest user: {useTimes().relative(Date.parse(latest.created_at))}</>
}

const NoUsers = () => (
  <EmptyState
    icon="team"
    sentence={`No ${usePage().environment} users yet`}
    next="A user is created when they approve their first sign-in."
  />
)

const COLUMNS: Column<PersonRecord>[] = [
  { label: 'Name', isWide: true, cell: (user) => <Text text={nameOf(user)} limit={48} /> },
  {
    label: 'Username',
    cell: ({ username }) => (username ? <Text text={`@${username}`} limit={40} /> : '–'),
  },
  {
    label: 'Messenger ID',
    isMono: true,
    cell: ({ platform_user_id: id }) => <Text text={id} limit={40} />,
  },
  {
    label: 'Last sign-in',
    align: 'right',
    sort: 'signed_in',
    cell: ({ updated_at: at }) => <Time at={Date.parse(at)} />,
  },
  {
    label: 'First seen',
    align: 'right',
    sort: 'created',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} />,
  },
]

/** A user who signed in by messenger. */
export const messengerUser = page({
  path: '/logins/users/:id',
  section: 'logins',
  hasEnvironments: true,
  right: 'read',

  load({ passepartout: { queries }, tenantId, environment, params }) {
    const owner = { tenantId, environment }
    const user = queries.person(owner, params.id)
    return { user, logins: queries.ofPerson(owner, user.id) }
  },

  title: ({ user }) => user.first_name,
  above: (_, { href }) => [{ label: 'Users', href: href('/logins/users') }],

  view({ user, logins }) {
    const { href, may, actionHref } = usePage()
    const time = (at: string) => <Time at={Date.parse(at)} />
    return (
      <>
        <PageHead
          title={<Text text={nameOf(user)} limit={64} />}
          state={{ sentence: <>Profile last updated {time(user.updated_at)}</> }}
        />
        <Section id="about" title="About" isCard>
          <Facts
            facts={[
              ['ID', <Id id={user.id} what="user ID" />],
              ['Messenger', user.platform === 'sandbox' ? 'Test bot' : 'Telegram'],
              ['Messenger ID', <Id id={user.platform_user_id} what="messenger ID" />],
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
        <Section id="logins" title="Sign-ins" note="Latest sign-ins.">
          <DataTable
            caption="Sign-ins"
            columns={LOGIN_COLUMNS}
            rows={logins}
            hrefOf={({ id }) => href(`/logins/${id}`)}
            idOf={({ id }) => id}
            empty={<p class="hint">No sign-ins stored</p>}
          />
        </Section>
        {may('delete') && (
          <DangerZone
            items={[
              {
                text: 'Revokes their tokens. If they sign in again, they get a new user ID.',
                id: 'delete',
                verb: 'Delete user',
                question: 'Delete this user?',
                consequence:
                  "Deletes their data immediately. Your app can't look them up by this ID anymore.",
                action: actionHref('delete'),
              },
            ]}
          />
        )}
      </>
    )
  },

  actions: {
    delete: {
      right: 'delete',
      flash: good('User deleted and tokens revoked.'),
      async run({ passepartout: { people }, environment, caller, params }) {
        await people.remove(caller('passepartout', environment), params.id)
        return { to: '/logins/users' }
      },
    },
  },
})
