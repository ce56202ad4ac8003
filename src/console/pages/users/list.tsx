import type { VNode } from 'preact'
import { Sparkline } from '../../../../views/ui/charts/meter.tsx'
import type { CurlRequest } from '../../../../views/ui/code.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { ErrorSummary } from '../../../../views/ui/form/form.tsx'
import type { FormError } from '../../../../views/ui/here.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { type Sorting, sortingIn } from '../../../../views/ui/sorting.ts'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Tiles } from '../../../../views/ui/tiles.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized, countedTo, numeral } from '../../../../views/ui/words.ts'
import type { Frequency } from '../../../engines/gate/identities/history.ts'
import type { UserSummary } from '../../../engines/gate/identities/summaries.ts'
import type { Caller } from '../../../platform/caller.ts'
import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import { type Page, page as pageOf } from '../../../platform/cursor.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { submitted } from '../../form.ts'
import { ListChips, ListFilters, NoMatches, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { StateBadge, VerifiedBadge } from './badges.tsx'
import { nameOfCredential } from './credentials.tsx'

const ON_A_PAGE = 50
/** Users are counted up to this number. */
const MAX_COUNTED = 10_000

const STATES = ['active', 'inactive'] as const
type State = (typeof STATES)[number]
type Counts = Record<State, number>

const SORTS = { created: 'desc', email: 'asc', signed_in: 'desc' } as const
type Sort = keyof typeof SORTS

const NOUN = ['user', 'users'] as const
const BULK = {
  'selected/deactivate': bulk({
    right: 'change',
    verb: 'Deactivate',
    noun: NOUN,
    done: 'deactivated',
    confirm: 'Their sessions and access tokens end, and they can no longer sign in.',
    each: (context, id) => setState(context, id, 'inactive'),
  }),
  'selected/activate': bulk({
    right: 'change',
    verb: 'Activate',
    noun: NOUN,
    done: 'activated',
    each: (context, id) => setState(context, id, 'active'),
  }),
  'selected/delete': bulk({
    right: 'delete',
    verb: 'Delete',
    noun: NOUN,
    done: 'deleted',
    confirm: "Their credentials, sessions and data are deleted. This can't be undone.",
    each: ({ gate, caller }, id) => gate.identities.remove(existing(caller, gate, id), id),
  }),
}

const setState = ({ gate, caller }: PageContext, id: string, state: State) =>
  gate.editing.setState(existing(caller, gate, id), id, state)

/** The caller, if the user is one of the tenant's: the API would tell that another tenant has one. */
function existing(callerOf: PageContext['caller'], gate: PageContext['gate'], id: string): Caller {
  const caller = callerOf('gate', 'live')
  return gate.users.find(caller, id) ? caller : fail(notFound('user not found'))
}

interface UserList {
  found: Page<UserSummary>
  errors: readonly FormError[] | undefined
  q: string
  sorting: Sorting<Sort>
  time: TimeFilter
  counts: Counts
  signIns: Frequency
  signUps: Frequency
}

/** The users of a tenant, with search and filters. */
export const userList = page({
  path: '/identities',
  section: 'identities',
  right: 'read',
  title: 'Users',

  async load(context): Promise<UserList> {
    const { gate, query } = context
    const caller = context.caller('gate', 'live')
    const sorting = sortingIn(query.sort, SORTS)
    const { value: found, errors } = await submitted(async () =>
      foundBy(context, { cursor: query.cursor || undefined, limit: ON_A_PAGE }),
    )
    return {
      found: found ?? { data: [], has_more: false, next_cursor: null },
      errors,
      q: query.q ?? '',
      sorting,
      time: timeFilterIn(context, { label: labelOf(sorting) }),
      counts: {
        active: gate.identities.count(caller, 'active', MAX_COUNTED),
        inactive: gate.identities.count(caller, 'inactive', MAX_COUNTED),
      },
      signIns: gate.history.frequency(caller, 'identity.login'),
      signUps: gate.history.frequency(caller, 'identity.created'),
    }
  },

  status: ({ errors, time }) => (errors || time.errors.length > 0 ? 422 : 200),

  view(list) {
    const { found, errors, q, counts, sorting, time } = list
    const { href, may } = usePage()
    const { isFiltered, isFirst, pagesTo, sortedBy } = useList()
    const isEmpty = found.data.length === 0 && !isFiltered && isFirst
    const create = may('change') && (
      <LinkButton weight="primary" href={href('/identities/new')}>
        Create user
      </LinkButton>
    )
    return (
      <>
        <PageHead
          title="Users"
          state={{ sentence: sentenceOn(counts) }}
          action={!isEmpty && create}
          aside={!isEmpty && <ExportMenu />}
        />
        {counts.active + counts.inactive > 0 && <LastDay {...list} />}
        <ErrorSummary errors={errors ?? []} />
        <ListChips
          name="state"
          chips={STATES.map((of) => ({ value: of, label: capitalized(of), count: counts[of] }))}
          most={MAX_COUNTED}
        />
        <ListFilters
          search={{ label: 'Search by name, email or ID' }}
          time={isTimed(sorting, q) ? time : undefined}
        />
        <DataTable
          caption="Users"
          columns={COLUMNS}
          rows={found.data}
          hrefOf={({ id }) => href(`/identities/${id}`)}
          idOf={({ id }) => id}
          pages={pagesTo(found.next_cursor)}
          {...(q === '' && { sorting: sortedBy(SORTS) })}
          empty={
            isEmpty ? (
              <NoUsers action={create} />
            ) : (
              <NoMatches
                icon="search"
                noun="users"
                next="The search finds any part of names and email addresses, and full IDs."
              />
            )
          }
          selection={useSelection(BULK)}
        />
      </>
    )
  },

  actions: BULK,

  files: {
    export: exportOf({
      name: 'users',
      columns: {
        id: ({ id }) => id,
        email: ({ email }) => email,
        name: ({ name }) => name,
        state: ({ state }) => state,
        email_verified: ({ isVerified }) => isVerified,
        sign_in_methods: ({ credentials }) => credentials.join(' '),
        last_sign_in_at: ({ lastSignInAt }) => isoOrNull(lastSignInAt),
        created_at: ({ createdAt }) => isoTime(createdAt),
      },
      slices: (context: PageContext) => pagesOf((of) => foundBy(context, of)),
    }),
  },
})

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** The time that sorts can be limited to a range. A search has an order of its own. */
const isTimed = ({ by }: Sorting<Sort>, q: string): boolean => by !== 'email' && q === ''

const labelOf = ({ by }: Sorting<Sort>) => (by === 'signed_in' ? 'Last sign-in' : 'Created')

/** Searches by full ID, or by any part of email and name. */
function foundBy(context: PageContext, of: { cursor: string | undefined; limit: number }) {
  const { gate, caller, query } = context
  const { users } = gate
  const { q = '' } = query
  const sorting = sortingIn(query.sort, SORTS)
  const { since, until } = timeFilterIn(context)
  const state = STATES.find((one) => one === query.state)
  const by = caller('gate', 'live')
  if (UUID.test(q)) {
    const found = users.find(by, q.toLowerCase())
    return pageOf(found && (!state || found.state === state) ? [found] : [], 1, () => '')
  }
  return users.list(by, {
    ...of,
    ...sorting,
    ...(isTimed(sorting, q) && { since, until }),
    state,
    search: q === '' ? undefined : q,
  })
}

const NoUsers = ({ action }: { action: VNode | false }) => (
  <EmptyState
    icon="identities"
    sentence="No users yet"
    next="Users sign up themselves, or you create them here or with the API."
    action={action}
    curl={createUserRequest(usePage().baseUrl())}
  />
)

const createUserRequest = (apiUrl: string): CurlRequest => ({
  url: `${apiUrl}/v1/gate/identities`,
  headers: { Authorization: 'Bearer $KEY', 'Content-Type': 'application/json' },
  body: { schema_id: 'user', traits: { email: 'ada@example.com' } },
})

const LastDay = ({ signIns, signUps }: UserList) => (
  <Tiles
    label="Last 24 hours"
    tiles={[tileOf('Sign-ins, 24 h', signIns), tileOf('New users, 24 h', signUps)]}
  />
)

function tileOf(label: string, { hours, isCut }: Frequency) {
  const sum = hours.reduce((all, count) => all + count, 0)
  const value = `${numeral(sum)}${isCut ? ' or more' : ''}`
  return {
    label,
    value,
    picture: <Sparkline values={hours} label={`${label}, by hour: ${value} in total`} />,
  }
}

function sentenceOn({ active, inactive }: Counts): string {
  if (active + inactive === 0) return 'People who sign in to your app'
  const all = `${countedTo(active, MAX_COUNTED)} active`
  return inactive === 0 ? all : `${all}, ${countedTo(inactive, MAX_COUNTED)} inactive`
}

const COLUMNS: Column<UserSummary>[] = [
  {
    label: 'User',
    isWide: true,
    sort: 'email',
    cell: ({ name, email }) => (
      <>
        <Text text={name === '' ? email : name} />
        {name !== '' && (
          <span class="hint">
            <Text text={email} />
          </span>
        )}
      </>
    ),
  },
  { label: 'Status', narrow: 'corner', cell: (user) => <StateBadge {...user} /> },
  { label: 'Email verified', cell: (user) => <VerifiedBadge {...user} /> },
  {
    label: 'Sign-in methods',
    narrow: 'hidden',
    cell: ({ credentials }) => <Text text={signInMethods(credentials)} />,
  },
  {
    label: 'Last sign-in',
    align: 'right',
    sort: 'signed_in',
    cell: ({ lastSignInAt: at }) => (at === null ? 'Never' : <Time at={at} />),
  },
  {
    label: 'Created',
    align: 'right',
    sort: 'created',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]

const signInMethods = (types: UserSummary['credentials']): string =>
  types.length === 0 ? 'None' : types.map(nameOfCredential).join(', ')
