import type { Frequency } from '../../../../../src/engines/gate/identities/history.ts'
import type { IdentityDetail } from '../../../../../src/engines/gate/identities/model.ts'
import type { Page } from '../../../../../src/platform/cursor.ts'
import { Sparkline } from '../../../charts/sparkline.tsx'
import type { CurlRequest } from '../../../curl-block.tsx'
import { type Column, DataTable } from '../../../data-table.tsx'
import { EmptyState } from '../../../empty-state.tsx'
import { FilterBar } from '../../../filter-bar.tsx'
import { LinkButton } from '../../../form/button.tsx'
import { ErrorSummary, type FormError } from '../../../form/error-summary.tsx'
import { type ListPosition, pagerLinks } from '../../../list-position.ts'
import { PageHead } from '../../../page-head.tsx'
import { FilterChips } from '../../../tabs.tsx'
import { Text } from '../../../text.tsx'
import { Tiles } from '../../../tiles.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { IDENTITIES, StateBadge, VerifiedBadge } from './badges.tsx'
import { nameOfCredential } from './credentials.tsx'

type State = IdentityDetail['state']

interface IdentityFilters {
  q: string
  state: State | undefined
}

interface Counts {
  active: number
  inactive: number
  /** Users are counted up to this number. */
  most: number
}

interface IdentitiesView {
  base: string
  apiUrl: string
  now: number
  found: Page<IdentityDetail>
  errors?: readonly FormError[]
  filters: IdentityFilters
  position: ListPosition
  counts: Counts
  signIns: Frequency
  signUps: Frequency
  mayChange: boolean
}

/** The users of a tenant. */
export const IdentitiesPage = (page: IdentitiesView) => {
  const { base, now, found, filters, position, counts, mayChange } = page
  const { q, state } = filters
  const href = (of: Partial<IdentityFilters> & ListPosition = {}) =>
    url(base, IDENTITIES, { q, state, ...of })
  const isFiltered = q !== '' || state !== undefined
  const isEmpty = found.data.length === 0 && !isFiltered && !position.cursor
  const create = mayChange && (
    <LinkButton weight="primary" href={url(base, `${IDENTITIES}/new`)}>
      Create user
    </LinkButton>
  )
  return (
    <>
      <PageHead
        title="Users"
        state={{ sentence: sentenceOn(counts) }}
        action={!isEmpty && create}
      />
      {counts.active + counts.inactive > 0 && <LastDay {...page} />}
      <ErrorSummary errors={page.errors ?? []} />
      <FilterChips
        label="Status"
        tabs={[
          { label: 'All', href: href({ state: undefined }), isCurrent: !state },
          chip('Active', 'active', filters, counts, href),
          chip('Inactive', 'inactive', filters, counts, href),
        ]}
      />
      <FilterBar
        action={url(base, IDENTITIES)}
        search={{ label: 'Search by ID or start of email', value: q }}
        kept={{ state }}
        clearHref={isFiltered ? url(base, IDENTITIES) : undefined}
      />
      <DataTable
        caption="Users"
        columns={columns(now)}
        rows={found.data}
        hrefOf={({ id }) => url(base, `${IDENTITIES}/${id}`)}
        idOf={({ id }) => id}
        pages={pagerLinks(position, found.next_cursor, href)}
        empty={
          !isEmpty ? (
            <EmptyState
              icon="search"
              sentence="No matching users"
              next="The search finds full IDs and the start of email addresses."
              action={<LinkButton href={url(base, IDENTITIES)}>View all users</LinkButton>}
            />
          ) : (
            <EmptyState
              icon="identities"
              sentence="No users yet"
              next="Users sign up themselves, or you create them here or with the API."
              action={create}
              curl={createUserRequest(page.apiUrl)}
            />
          )
        }
      />
    </>
  )
}

const createUserRequest = (apiUrl: string): CurlRequest => ({
  url: `${apiUrl}/v1/gate/identities`,
  headers: { Authorization: 'Bearer $KEY', 'Content-Type': 'application/json' },
  body: { schema_id: 'user', traits: { email: 'ada@example.com' } },
})

const LastDay = ({ signIns, signUps }: IdentitiesView) => (
  <Tiles
    label="Last 24 hours"
    tiles={[tileOf('Sign-ins, 24 h', signIns), tileOf('New users, 24 h', signUps)]}
  />
)

function tileOf(label: string, { hours, isCut }: Frequency) {
  const sum = hours.reduce((all, count) => all + count, 0)
  const value = `${sum.toLocaleString('en')}${isCut ? ' or more' : ''}`
  return {
    label,
    value,
    picture: <Sparkline values={hours} label={`${label}, by hour: ${value} in total`} />,
  }
}

const chip = (
  label: string,
  of: State,
  { state }: IdentityFilters,
  counts: Counts,
  href: (of: Partial<IdentityFilters>) => string,
) => ({
  label,
  href: href({ state: of }),
  isCurrent: state === of,
  ...(counts[of] < counts.most && { count: counts[of] }),
})

function sentenceOn({ active, inactive, most }: Counts): string {
  const number = (count: number) =>
    count < most ? count.toLocaleString('en') : `${most.toLocaleString('en')} or more`
  if (active + inactive === 0) return 'People who sign in to your app'
  const all = `${number(active)} active`
  return inactive === 0 ? all : `${all}, ${number(inactive)} inactive`
}

const columns = (now: number): Column<IdentityDetail>[] => [
  { label: 'Email', isWide: true, cell: ({ traits }) => <Text text={traits.email} /> },
  { label: 'Status', narrow: 'corner', cell: (identity) => <StateBadge {...identity} /> },
  {
    label: 'Email verified',
    cell: ({ verifiable_addresses: [address] }) => (
      <VerifiedBadge isVerified={address?.verified ?? false} />
    ),
  },
  {
    label: 'Sign-in methods',
    cell: ({ credentials }) => <Text text={signInMethodRows(credentials)} />,
  },
  {
    label: 'Created',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]

const signInMethodRows = (credentials: IdentityDetail['credentials']): string => {
  const types = Object.keys(credentials)
  return types.length === 0 ? 'None' : types.map(nameOfCredential).join(', ')
}
