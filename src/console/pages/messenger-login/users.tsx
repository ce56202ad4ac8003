import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { pagerLinks } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { relative, Time } from '../../../../views/ui/time.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { PersonRecord } from '../../../engines/passepartout/index.ts'
import { page, usePage } from '../../page.tsx'
import { LoginTabs, nameOf } from './login-badges.tsx'

const ON_A_PAGE = 50

/** Users who signed in by messenger, newest first. */
export const messengerUsers = page({
  path: '/logins/users',
  section: 'logins',
  hasEnvironments: true,
  right: 'read',
  title: 'Users',

  load({ passepartout: { records }, tenantId, environment, query, position, href }) {
    const { q: search = '', cursor } = query
    const found = records.people(
      { tenantId, environment },
      { ...(search !== '' && { search }), cursor, limit: ON_A_PAGE },
    )
    return {
      users: found.data,
      search,
      isFirst: cursor === undefined,
      pages: pagerLinks(position, found.next_cursor, (to) =>
        href('/logins/users', { q: search, ...to }),
      ),
    }
  },

  view({ users, search, isFirst, pages }) {
    const { href, environment, now } = usePage()
    const [latest] = users
    return (
      <>
        <PageHead
          title="Logins"
          state={{
            sentence: latest
              ? search || !isFirst
                ? counted(users.length, 'user')
                : `Newest user: ${relative(Date.parse(latest.created_at), now)}`
              : search
                ? 'No matching users'
                : 'No users yet',
          }}
        />
        <LoginTabs current="users" />
        <FilterBar
          action={href('/logins/users')}
          search={{ label: 'Search by exact ID, messenger ID or @username', value: search }}
          {...(search !== '' && { clearHref: href('/logins/users') })}
        />
        <DataTable
          caption="Users"
          columns={COLUMNS}
          rows={users}
          hrefOf={({ id }) => href(`/logins/users/${id}`)}
          idOf={({ id }) => id}
          pages={pages}
          empty={
            <EmptyState
              icon="team"
              sentence={
                search === ''
                  ? `No ${environment} users yet`
                  : 'No user has this ID, messenger ID or username'
              }
              next="A user is created when they approve their first sign-in."
            />
          }
        />
      </>
    )
  },
})

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
    label: 'First seen',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} />,
  },
]
