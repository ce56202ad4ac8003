import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { type Format, headOf, linesOf } from '../../../platform/audit/formats.ts'
import type { LoggedEntry } from '../../../platform/audit/index.ts'
import { createCursor, type Page } from '../../../platform/cursor.ts'
import { restOf } from '../../../platform/scan.ts'
import { download, ExportMenu, formatIn, pagesOf } from '../../export.tsx'
import { ListChips, ListFilters, NoMatches, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { checkTimeFilter, type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { columns, type EntryContext, nameOf } from './audit-entry.tsx'
import { memberNames } from './keys.tsx'

const ON_A_PAGE = 50
const SORTS = { time: 'desc' } as const

interface AuditLog extends EntryContext {
  found: Page<LoggedEntry>
  time: TimeFilter
}

/** Common filters, by prefix of the action. */
const CHIPS = [
  { label: 'API keys', value: 'key.' },
  { label: 'Team', value: 'member.' },
  { label: 'Users', value: 'identity.' },
  { label: 'Jobs', value: 'job.' },
  { label: 'Bots', value: 'bot.' },
  { label: 'Endpoints', value: 'endpoint.' },
  { label: 'Tenant', value: 'tenant.' },
] as const

const INPUTS = [
  { name: 'action', label: 'Event', placeholder: 'key.revoked' },
  { name: 'object', label: 'Target', placeholder: 'ID' },
  { name: 'actor', label: 'Actor', placeholder: 'ID' },
]

/** The audit log: event, target, actor and IP address. */
export const auditLog = page({
  path: '/audit',
  section: 'audit',
  right: 'read',
  title: 'Audit log',

  load(context): AuditLog {
    const { gate, caller, position } = context
    const { webhooks } = gate.webhooks.list(caller('gate', 'live'))
    return {
      found: matching(context, { cursor: position.cursor, limit: ON_A_PAGE }),
      time: timeFilterIn(context),
      names: memberNames(context),
      webhooks: new Set(webhooks.map(({ id }) => id)),
    }
  },

  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  view(log) {
    const { found, time } = log
    const { query } = usePage()
    const { pagesTo, sortedBy } = useList()
    const pages = pagesTo(found.next_cursor)
    return (
      <>
        <PageHead
          title="Audit log"
          state={{ sentence: <Summary {...log} /> }}
          aside={<ExportMenu />}
        />
        <ListChips name="action" label="Kind of event" chips={CHIPS} />
        <ListFilters
          inputs={INPUTS.map((input) => ({ ...input, value: query[input.name], isMono: true }))}
          time={time}
        />
        <DataTable
          caption="Events"
          columns={columns(log)}
          rows={found.data}
          idOf={({ seq }) => `${seq}`}
          empty={<NoEvents olderHref={pages.olderHref} />}
          pages={pages}
          sorting={sortedBy(SORTS)}
        />
      </>
    )
  },

  files: {
    export(context) {
      const format = formatIn(context)
      checkTimeFilter(context)
      const slices = pagesOf((of) => matching(context, of))
      return download('audit', format, context.now, textOf(slices, format))
    },
  },
})

/** Entries that match the filter of the query string, in its order. */
function matching(context: PageContext, of: { cursor: string | undefined; limit: number }) {
  const { audit, tenantId, query } = context
  const cursors = createCursor(`audit log of ${tenantId}`)
  const window = { limit: of.limit, isAscending: !sortingIn(query.sort, SORTS).isDescending }
  const { since, until } = timeFilterIn(context)
  const { entries, next } = audit.list({
    ...restOf(window, cursors.positionOf(of.cursor)),
    ...{ tenantId, since, until },
    action: query.action || undefined,
    actorId: query.actor || undefined,
    object: query.object || undefined,
  })
  const hasMore = next !== undefined
  return { data: entries, has_more: hasMore, next_cursor: hasMore ? cursors.encode(next) : null }
}

function Summary({ found, names }: AuditLog) {
  const { query } = usePage()
  const { isFiltered, isFirst } = useList()
  const [latest] = found.data
  if (!latest) return <>{isFiltered ? 'No matching events' : 'No events yet'}</>
  if (query.sort) return <>{isFiltered ? 'Matching events, oldest first' : 'Oldest events first'}</>
  if (!isFirst) return <>{isFiltered ? 'Older matching events' : 'Older events'}</>
  return (
    <>
      {isFiltered ? 'Latest matching event: ' : 'Latest event: '}
      <Text text={latest.action} limit={48} /> by {nameOf(latest, names)} <Time at={latest.at} />
    </>
  )
}

const NoEvents = ({ olderHref }: { olderHref: string | undefined }) =>
  useList().isFiltered || olderHref !== undefined ? (
    <NoMatches icon="audit" noun="events" olderHref={olderHref} />
  ) : (
    <EmptyState
      icon="audit"
      sentence="No events"
      next="Every change by an API key, operator, user or the command line is logged."
    />
  )

function* textOf(slices: Iterable<Parameters<typeof linesOf>[0]>, format: Format) {
  yield headOf(format)
  for (const entries of slices) yield linesOf(entries, format)
}
