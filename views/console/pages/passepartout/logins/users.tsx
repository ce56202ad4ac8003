import type { PersonRecord } from '../../../../../src/engines/passepartout/index.ts'
import type { Environment } from '../../../../../src/platform/engines.ts'
import { type Column, DataTable } from '../../../data-table.tsx'
import { EmptyState } from '../../../empty-state.tsx'
import { FilterBar } from '../../../filter-bar.tsx'
import { PageHead } from '../../../page-head.tsx'
import type { Pages } from '../../../pager.tsx'
import { Text } from '../../../text.tsx'
import { relative, Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { counted } from '../../../words.ts'
import { nameOf, Views } from './badges.tsx'

/** Users who signed in by messenger, newest first. */
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
              ? counted(users.length, 'user')
              : `Newest user: ${relative(Date.parse(latest.created_at), page.now)}`
            : search
              ? 'No matching users'
              : 'No users yet',
        }}
      />
      <Views base={base} current="users" />
      <FilterBar
        action={url(base, '/console/logins/users')}
        search={{ label: 'Search by exact ID, messenger ID or @username', value: search }}
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
                ? `No ${page.environment} users yet`
                : 'No user has this ID, messenger ID or username'
            }
            next="A user is created when they approve their first sign-in."
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
    label: 'Messenger ID',
    isMono: true,
    cell: ({ platform_user_id: id }) => <Text text={id} limit={40} />,
  },
  {
    label: 'First seen',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]
