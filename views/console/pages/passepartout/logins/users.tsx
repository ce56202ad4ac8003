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
import { nameOf, Views } from './marks.tsx'

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
