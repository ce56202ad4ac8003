import type { MembershipRow } from '../../../../src/console/operators/store/memberships.ts'
import type { Operator } from '../../../../src/engines/gate/operators/list.ts'
import { Address } from '../../address.tsx'
import type { Column } from '../../data-table.tsx'
import { PageHead } from '../../page-head.tsx'
import type { Pages } from '../../pager.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { counted, countedTo } from '../../words.ts'
import { NoMatches, SearchedList } from './searched-list.tsx'

const PATH = '/console/admin/operators'

/** Filters of the list. */
export const OPERATOR_FILTERS = ['admins', 'deactivated'] as const
export type OperatorsFilter = (typeof OPERATOR_FILTERS)[number]

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

/** All operators of the console. */
export const OperatorsPage = (page: {
  base: string
  rows: readonly (OperatorRow & { memberships: readonly MembershipRow[] })[]
  counts: Counts
  mostCounted: number
  q: string
  show: OperatorsFilter | undefined
  pages: Pages
  now: number
}) => {
  const { base, counts, q, show } = page
  return (
    <>
      <PageHead title="Operators" state={{ sentence: sentenceOn(counts, page.mostCounted) }} />
      <SearchedList
        base={base}
        path={PATH}
        caption={q === '' ? 'Operators, newest first' : 'Operators by email'}
        search={{ label: 'Search by email or ID', value: q }}
        filter={{
          name: 'show',
          label: 'Operators',
          value: show,
          questions: [
            { label: 'All', count: counts.active + counts.inactive },
            { label: 'Admins', value: 'admins', count: counts.admins },
            { label: 'Deactivated', value: 'deactivated', count: counts.inactive },
          ],
        }}
        columns={columns(page.now)}
        rows={page.rows}
        pages={page.pages}
        none={
          <NoMatches
            icon="team"
            sentence="No matching operators"
            label="View all operators"
            href={url(base, PATH)}
          />
        }
      />
    </>
  )
}

function sentenceOn({ active, admins }: Counts, most: number): string {
  const operators = `${countedTo(active, most)} active ${active === 1 ? 'operator' : 'operators'}`
  return `${operators}, ${counted(admins, 'admin')}`
}

const columns = (
  now: number,
): Column<OperatorRow & { memberships: readonly MembershipRow[] }>[] => [
  { label: 'Email', isWide: true, cell: (operator) => <Address {...operator} limit={60} /> },
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
    label: 'Created',
    align: 'right',
    narrow: 'hidden',
    cell: ({ createdAt: at }) => <Time at={at} now={now} />,
  },
]

const accessOf = (isAdmin: boolean, memberships: readonly MembershipRow[]): string =>
  [
    ...(isAdmin ? ['Installation (admin)'] : []),
    ...memberships.map(({ tenantName, role }) => `${tenantName} (${role})`),
  ].join(', ') || 'None'
