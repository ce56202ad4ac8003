import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { pagerLinks } from '../../../../views/ui/pager.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time, useTimes } from '../../../../views/ui/time.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { PersonRecord } from '../../../engines/passepartout/index.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { LOGIN_COLUMNS, LoginTabs, nameOf } from './logins.tsx'

const ON_A_PAGE = 50

/** Users who signed in by messenger, newest first. */
export const messengerUsers = page({
  path: '/logins/users',
  section: 'logins',
  hasEnvironments: true,
  right: 'read',
  title: 'Users',

  load(context) {
    const { query, position, href } = context
    const { q: search = '', cursor } = query
    const found = matching(context, { cursor, limit: ON_A_PAGE })
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
    const { href, environment } = usePage()
    const { relative } = useTimes()
    const [latest] = users
    return (
      <>
        <PageHead
          title="Logins"
          state={{
            sentence: latest
              ? search || !isFirst
                ? counted(users.length, 'user')
                : `Newest user: ${relative(Date.parse(latest.created_at))}`
              : search
                ? 'No matching users'
                : 'No users yet',
          }}
          aside={users.length > 0 && <ExportMenu />}
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

/** Users that match the search of the query string. */
const matching = (
  { passepartout: { queries }, tenantId, environment, query: { q: search = '' } }: PageContext,
  of: { cursor: string | undefined; limit: number },
) => queries.people({ tenantId, environment }, { ...of, ...(search !== '' && { search }) })

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
