import { useHere } from '../../../../views/ui/here.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import type { Column } from '../../../../views/ui/table.tsx'
import { Address, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { counted, countedTo } from '../../../../views/ui/words.ts'
import type { Operator } from '../../../engines/gate/operators/list.ts'
import { isoTime } from '../../../platform/clock.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { ExportMenu, exportOf, rowsAfter } from '../../export.tsx'
import type { MembershipRow } from '../../operators/memberships.ts'
import { type OperatorPageContext, page } from '../../page.tsx'
import { NoMatches, SearchedList, searchIn } from './searched-list.tsx'

const PATH = '/operators'

/** Filters of the list. */
const FILTERS = ['admins', 'deactivated'] as const
type Filter = (typeof FILTERS)[number]

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

/** Position in the list, for every order. */
const cursor = createCursor('console operators', ['number', 'string', 'string'])

/** All operators of the console. */
export const operatorList = page({
  path: PATH,
  section: 'operators',
  right: 'admin',
  title: 'Operators',

  load(context) {
    const { operators, gate, query } = context
    const { operatorList: list } = gate.gateOperators
    const { q, search, after, limit, cut } = searchIn(context, PATH, cursor)
    const show = FILTERS.find((one) => one === query.show)
    const found = rowsOf(context, { show, search, after, limit })
    const { rows, pages } = cut(found, ({ seq, email, id }) => [seq, email, id], { show })
    return {
      rows: rows.map((one) => ({
        ...one,
        isAdmin: operators.admins.isAdmin(one.id),
        memberships: operators.memberships.of(one.id),
      })),
      counts: {
        active: list.count('active', MAX_COUNTED),
        inactive: list.count('inactive', MAX_COUNTED),
        admins: operators.admins.count(MAX_COUNTED),
      },
      q,
      show,
      pages,
    }
  },

  view({ rows, counts, q, show, pages }) {
    const { href } = useHere()
    return (
      <>
        <PageHead
          title="Operators"
          state={{ sentence: sentenceOn(counts) }}
          aside={<ExportMenu />}
        />
        <SearchedList
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
          columns={COLUMNS}
          rows={rows}
          pages={pages}
          none={
            <NoMatches
              icon="team"
              sentence="No matching operators"
              label="View all operators"
              href={href(PATH)}
            />
          }
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
        created_at: ({ createdAt }) => isoTime(createdAt),
      },
      slices: (context: OperatorPageContext) => {
        const { search } = searchIn(context, PATH, cursor)
        const show = FILTERS.find((one) => one === context.query.show)
        return rowsAfter(
          (after: Position | undefined, limit) => rowsOf(context, { show, search, after, limit }),
          ({ seq, email, id }): Position => [seq, email, id],
        )
      },
    }),
  },
})

type Position = readonly [seq: number, email: string, id: string]

/** Operators by exact ID or by email prefix. */
function rowsOf(
  { operators, gate }: OperatorPageContext,
  filters: {
    show: Filter | undefined
    search: string | undefined
    after: Position | undefined
    limit: number
  },
): (Operator & { seq: number })[] {
  const { show, search, after, limit } = filters
  const { operatorList: list } = gate.gateOperators
  const known = search === undefined ? undefined : list.find(search.toLowerCase())
  if (known) {
    const isShown =
      show === 'admins'
        ? operators.admins.isAdmin(known.id)
        : show === undefined || known.state === 'inactive'
    return isShown ? [{ ...known, seq: 0 }] : []
  }
  if (show === 'admins')
    return operators.admins
      .page({ search: search?.toLowerCase(), after: after?.[2], limit })
      .map((row) => ({ ...list.of(row), seq: 0 }))
  return list.page({
    state: show === 'deactivated' ? 'inactive' : undefined,
    search,
    after: after && { seq: after[0], email: after[1] },
    limit,
  })
}

function sentenceOn({ active, admins }: Counts): string {
  const operators = `${countedTo(active, MAX_COUNTED)} active ${active === 1 ? 'operator' : 'operators'}`
  return `${operators}, ${counted(admins, 'admin')}`
}

const COLUMNS: Column<OperatorRow & { memberships: readonly MembershipRow[] }>[] = [
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
    cell: ({ createdAt: at }) => <Time at={at} />,
  },
]

const accessOf = (isAdmin: boolean, memberships: readonly MembershipRow[]): string =>
  [
    ...(isAdmin ? ['Installation (admin)'] : []),
    ...memberships.map(({ tenantName, role }) => `${tenantName} (${role})`),
  ].join(', ') || 'None'
