import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Address, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { counted, countedTo } from '../../../../views/ui/words.ts'
import type { Operator } from '../../../engines/gate/operators/list.ts'
import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import { type Page, page as pageOf } from '../../../platform/cursor.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListChips, ListFilters, NoMatches, useList } from '../../list.tsx'
import type { MembershipRow } from '../../operators/memberships.ts'
import { type OperatorPageContext, page, usePage } from '../../page.tsx'

const ON_A_PAGE = 50
const SORTS = { created: 'desc', email: 'asc', signed_in: 'desc' } as const

/** Filters of the list. */
const FILTERS = ['admins', 'deactivated'] as const

/** An operator of the console. */
export interface OperatorRow extends Operator {
  isAdmin: boolean
}

export const OPERATOR_BADGES: Record<Operator['state'], { tone: Tone; word: string }> = {
  active: { tone: 'good', word: 'active' },
  inactive: { tone: 'quiet', word: 'deactivated' },
}

/** Numbers of operators, up to the counting limit. */
interface Counts {
  active: number
  inactive: number
  admins: number
}

/** Operators are counted up to this number. */
const MAX_COUNTED = 10_000

type ListedOperator = OperatorRow & { memberships: readonly MembershipRow[] }

interface OperatorListView {
  found: Page<ListedOperator>
  counts: Counts
}

/** All operators of the console. */
export const operatorList = page({
  path: '/operators',
  section: 'operators',
  right: 'admin',
  title: 'Operators',

  load(context): OperatorListView {
    const { operators, gate, position } = context
    const { count } = gate.gateOperators.operatorList
    const found = matching(context, { cursor: position.cursor, limit: ON_A_PAGE })
    const data = found.data.map((one) => ({
      ...one,
      isAdmin: operators.admins.isAdmin(one.id),
      memberships: operators.memberships.of(one.id),
    }))
    return {
      found: { ...found, data },
      counts: {
        active: count('active', MAX_COUNTED),
        inactive: count('inactive', MAX_COUNTED),
        admins: operators.admins.count(MAX_COUNTED),
      },
    }
  },

  view({ found, counts }) {
    const { href, query } = usePage()
    const { pagesTo, sortedBy } = useList()
    return (
      <>
        <PageHead
          title="Operators"
          state={{ sentence: sentenceOn(counts) }}
          aside={<ExportMenu />}
        />
        <ListChips
          name="show"
          label="Operators"
          all={counts.active + counts.inactive}
          most={MAX_COUNTED}
          chips={[
            { value: 'admins', label: 'Admins', count: counts.admins },
            { value: 'deactivated', label: 'Deactivated', count: counts.inactive },
          ]}
        />
        <ListFilters search={{ label: 'Search by email or ID' }} />
        <DataTable
          caption="Operators"
          columns={COLUMNS}
          rows={found.data}
          hrefOf={({ id }) => href(`/operators/${id}`)}
          idOf={({ id }) => id}
          pages={pagesTo(found.next_cursor)}
          {...(!query.q && query.show !== 'admins' && { sorting: sortedBy(SORTS) })}
          empty={<NoMatches icon="team" noun="operators" />}
        />
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'operators',
      columns: {
        id: ({ id }) => id,
        email: ({ email }) => email,
        name: ({ name }) => name,
        state: ({ state }) => state,
        email_verified: ({ isVerified }) => isVerified,
        last_sign_in_at: ({ lastSignInAt }) => isoOrNull(lastSignInAt),
        created_at: ({ createdAt }) => isoTime(createdAt),
      },
      slices: (context: OperatorPageContext) => pagesOf((of) => matching(context, of)),
    }),
  },
})

/** Operators that match the filter of the query string, in its order: by exact ID or by email prefix. */
function matching(
  { operators, gate, query }: OperatorPageContext,
  of: { cursor: string | undefined; limit: number },
): Page<Operator> {
  const { operatorList: list } = gate.gateOperators
  const show = FILTERS.find((one) => one === query.show)
  const search = query.q?.toLowerCase() || undefined
  const known = search === undefined ? undefined : list.find(search)
  if (known) {
    const isShown =
      show === 'admins'
        ? operators.admins.isAdmin(known.id)
        : show === undefined || known.state === 'inactive'
    return pageOf(isShown ? [known] : [], 1, () => '')
  }
  if (show === 'admins') return operators.admins.page({ ...of, search })
  const state = show === 'deactivated' ? 'inactive' : undefined
  return list.page({ ...of, ...sortingIn(query.sort, SORTS), search, state })
}

function sentenceOn({ active, admins }: Counts): string {
  const operators = `${countedTo(active, MAX_COUNTED)} active ${active === 1 ? 'operator' : 'operators'}`
  return `${operators}, ${counted(admins, 'admin')}`
}

const COLUMNS: Column<ListedOperator>[] = [
  {
    label: 'Email',
    isWide: true,
    sort: 'email',
    cell: (operator) => <Address {...operator} limit={60} />,
  },
  { label: 'Name', cell: ({ name }) => (name === '' ? '–' : <Text text={name} limit={40} />) },
  {
    label: 'Status',
    narrow: 'corner',
    cell: ({ state }) => <StatusBadge {...OPERATOR_BADGES[state]} />,
  },
  {
    label: 'Access',
    cell: ({ isAdmin, memberships }) => <Text text={accessOf(isAdmin, memberships)} limit={60} />,
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
    narrow: 'hidden',
    sort: 'created',
    cell: ({ createdAt: at }) => <Time at={at} />,
  },
]

const accessOf = (isAdmin: boolean, memberships: readonly MembershipRow[]): string =>
  [
    ...(isAdmin ? ['Installation (admin)'] : []),
    ...memberships.map(({ tenantName, role }) => `${tenantName} (${role})`),
  ].join(', ') || 'None'
