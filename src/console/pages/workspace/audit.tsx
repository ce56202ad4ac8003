import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { errorAt } from '../../../../views/ui/form/field.tsx'
import { ErrorSummary } from '../../../../views/ui/form/form.tsx'
import type { FormError } from '../../../../views/ui/here.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { DataTable } from '../../../../views/ui/table.tsx'
import { FilterChips } from '../../../../views/ui/tabs.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import type { Query } from '../../../../views/ui/url.ts'
import { type Format, headOf, linesOf } from '../../../platform/audit/formats.ts'
import type { AuditFilter, LoggedEntry } from '../../../platform/audit/index.ts'
import { invalid } from '../../../platform/errors.ts'
import { momentIn } from '../../../platform/time-zone.ts'
import { parseTimestamp } from '../../../platform/timestamp.ts'
import { download, ExportMenu, formatIn } from '../../export.tsx'
import { submitted } from '../../form.ts'
import { type PageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { columns, type EntryContext, nameOf } from './audit-entry.tsx'

const ON_A_PAGE = 50

interface Found {
  /** Newest first. A page can be empty without being the last. */
  entries: readonly LoggedEntry[]
  /** Positions of the next pages, for `before` and `after`. */
  older: number | undefined
  newer: number | undefined
}

interface AuditLog extends EntryContext {
  /** Undefined if the filter is invalid. */
  found: Found | undefined
  errors: readonly FormError[] | undefined
  time: TimeFilter
}

/** Common filters, by prefix of the action. */
const CHIPS = [
  { label: 'All', action: undefined },
  { label: 'API keys', action: 'key.' },
  { label: 'Team', action: 'member.' },
  { label: 'Users', action: 'identity.' },
  { label: 'Jobs', action: 'job.' },
  { label: 'Bots', action: 'bot.' },
  { label: 'Endpoints', action: 'endpoint.' },
  { label: 'Tenant', action: 'tenant.' },
] as const

/** The audit log: event, target, actor and IP address. */
export const auditLog = page({
  path: '/audit',
  section: 'audit',
  right: 'read',
  title: 'Audit log',

  async load(context): Promise<AuditLog> {
    const { gate, operators, tenantId, caller } = context
    const { value: found, errors } = await submitted(async () => pageOf(context), {
      since: 'since',
      until: 'until',
    })
    const { webhooks } = gate.webhooks.list(caller('gate', 'live'))
    const members = operators.memberships.list(tenantId)
    return {
      found,
      errors,
      time: timeFilterIn(context),
      names: new Map(members.map(({ id, email }) => [id, email])),
      webhooks: new Set(webhooks.map(({ id }) => id)),
    }
  },

  status: ({ errors }) => (errors ? 422 : 200),

  view(log) {
    const { found, errors, time } = log
    const { href, query } = usePage()
    const filter = filtersIn(query)
    const { action, actor, object } = filter
    const isFiltered = time.isSet || [action, actor, object].some((value) => value !== undefined)
    const at = (more: Query) => href('/audit', { action, actor, object, ...time.query, ...more })
    return (
      <>
        <PageHead
          title="Audit log"
          state={{ sentence: <Summary {...log} isFiltered={isFiltered} /> }}
          aside={!errors && <ExportMenu />}
        />
        <FilterChips
          label="Kind of event"
          tabs={CHIPS.map((chip) => ({
            label: chip.label,
            href: at({ action: chip.action }),
            isCurrent: chip.action === action,
          }))}
        />
        <ErrorSummary errors={errors ?? []} />
        <FilterBar
          action={href('/audit')}
          filters={[time.filter]}
          inputs={[
            {
              name: 'action',
              label: 'Event',
              value: action,
              isMono: true,
              placeholder: 'key.revoked',
            },
            { name: 'object', label: 'Target', value: object, isMono: true, placeholder: 'ID' },
            { name: 'actor', label: 'Actor', value: actor, isMono: true, placeholder: 'ID' },
            ...time.inputs.map((input) => ({ ...input, error: errorAt(errors, input.name) })),
          ]}
          clearHref={isFiltered ? href('/audit') : undefined}
        />
        {found && (
          <DataTable
            caption="Events, newest first"
            columns={columns(log)}
            rows={found.entries}
            idOf={({ seq }) => `${seq}`}
            empty={<NoEvents {...found} at={at} isFiltered={isFiltered} />}
            pages={{
              newerHref: found.newer === undefined ? undefined : at({ after: found.newer }),
              olderHref: found.older === undefined ? undefined : at({ before: found.older }),
            }}
          />
        )}
      </>
    )
  },

  files: {
    /** Oldest first, as on the command line. */
    export(context) {
      const format = formatIn(context)
      const slices = context.audit.oldestFirst(filterIn(context))
      return download('audit', format, context.now, textOf(slices, format))
    },
  },
})

/** A page of entries with links in both directions. Going back past the first entry shows the first page. */
function pageOf(context: PageContext): Found {
  const { audit, query } = context
  const filter = filterIn(context)
  const [before, after] = [positionIn('before', query.before), positionIn('after', query.after)]
  if (after !== undefined) {
    const { entries, next } = audit.listAfter({ ...filter, after, limit: ON_A_PAGE })
    const last = entries.at(-1)?.seq ?? after + 1
    if (next !== undefined) return { entries, older: last, newer: next }
  }
  const { entries, next } = audit.list({ ...filter, before, limit: ON_A_PAGE })
  const newer = before === undefined ? undefined : (entries[0]?.seq ?? before - 1)
  return { entries, older: next, newer }
}

function Summary({ found, names, isFiltered }: AuditLog & { isFiltered: boolean }) {
  const { query } = usePage()
  if (!found) return <>No events shown. Fix the filter.</>
  const [latest] = found.entries
  if (!latest) return <>{isFiltered ? 'No matching events' : 'No events yet'}</>
  if (query.before !== undefined || query.after !== undefined)
    return <>{isFiltered ? 'Older matching events' : 'Older events'}</>
  return (
    <>
      {isFiltered ? 'Latest matching event: ' : 'Latest event: '}
      <Text text={latest.action} limit={48} /> by {nameOf(latest, names)} <Time at={latest.at} />
    </>
  )
}

const NoEvents = (page: Found & { at: (more: Query) => string; isFiltered: boolean }) => (
  <EmptyState
    icon="audit"
    sentence={page.isFiltered ? 'No matching events' : 'No events'}
    next={
      page.older === undefined
        ? 'Every change by an API key, operator, user or the command line is logged.'
        : 'Only part of the log has been searched so far.'
    }
    action={
      <>
        {page.newer !== undefined && (
          <LinkButton href={page.at({ after: page.newer })}>Newer</LinkButton>
        )}
        {page.older !== undefined && (
          <LinkButton weight="primary" href={page.at({ before: page.older })}>
            Search older events
          </LinkButton>
        )}
      </>
    }
  />
)

/** Filters in a query string; empty ones are undefined. */
const filtersIn = ({ action, actor, object, since, until }: PageContext['query']) => ({
  action: action || undefined,
  actor: actor || undefined,
  object: object || undefined,
  since: since || undefined,
  until: until || undefined,
})

function filterIn(context: PageContext): AuditFilter {
  const { tenantId, query, zone } = context
  const { action, actor: actorId, object, ...times } = filtersIn(query)
  const preset = timeFilterIn(context)
  if (preset.isSet && preset.inputs.length === 0)
    return { tenantId, action, actorId, object, since: preset.since }
  const [since, until] = (['since', 'until'] as const).map((name) =>
    timeIn(name, times[name], zone),
  )
  if (since !== undefined && until !== undefined && until <= since)
    throw invalid('must be after the start time', { field: 'until', rule: 'range' })
  return { tenantId, action, actorId, object, since, until }
}

/** A time from a form, which has no zone. */
const PLAIN = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?$/

function timeIn(name: string, text: string | undefined, zone: string): number | undefined {
  if (text === undefined) return undefined
  const [whole, time, seconds] = PLAIN.exec(text) ?? []
  if (whole === undefined) return parseTimestamp(text, name)
  const rest = time === undefined ? 'T00:00:00' : seconds === undefined ? ':00' : ''
  parseTimestamp(`${text}${rest}Z`, name)
  return momentIn(`${text}${rest}`, zone)
}

function positionIn(name: string, text: string | undefined): number | undefined {
  if (!text) return undefined
  if (!/^\d{1,15}$/.test(text))
    throw invalid('must be the number of an entry', { field: name, rule: 'format' })
  return Number(text)
}

function* textOf(slices: Iterable<Parameters<typeof linesOf>[0]>, format: Format) {
  yield headOf(format)
  for (const entries of slices) yield linesOf(entries, format)
}
