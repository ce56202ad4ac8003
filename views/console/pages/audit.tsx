import type { LoggedEntry } from '../../../src/platform/audit/index.ts'
import { DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { FilterBar, type FilterInput } from '../filter-bar.tsx'
import { DownloadButton, LinkButton } from '../form/button.tsx'
import { ErrorSummary, type FormError } from '../form/error-summary.tsx'
import { errorAt } from '../form/values.ts'
import { PageHead } from '../page-head.tsx'
import { FilterChips } from '../tabs.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import { url } from '../url.ts'
import { columns, type EntryContext, nameOf } from './audit-entry.tsx'

/** Filters and position in the log, from the query string. */
export type AuditQuery = Partial<
  Record<'action' | 'actor' | 'object' | 'since' | 'until' | 'before' | 'after' | 'format', string>
>

export interface Found {
  /** Newest first. A page can be empty without being the last. */
  entries: readonly LoggedEntry[]
  /** Positions of the next pages, for `before` and `after`. */
  older: number | undefined
  newer: number | undefined
}

interface AuditProps extends EntryContext {
  query: AuditQuery
  /** Undefined if the filter is invalid. */
  found?: Found
  errors?: readonly FormError[]
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
export const AuditPage = (page: AuditProps) => {
  const { base, query, found, errors } = page
  const { action, actor, object, since, until } = query
  const filter = { action, actor, object, since, until }
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const at = (more: AuditQuery) => url(base, '/console/audit', { ...filter, ...more })
  const file = (format: string) => url(base, '/console/audit/export', { ...filter, format })
  return (
    <>
      <PageHead
        title="Audit log"
        state={{ sentence: sentenceOn(page, isFiltered) }}
        aside={
          !errors && (
            <>
              <DownloadButton href={file('csv')}>Export CSV</DownloadButton>
              <DownloadButton href={file('ndjson')}>Export NDJSON</DownloadButton>
            </>
          )
        }
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
        action={url(base, '/console/audit')}
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
          momentOf('since', 'Since (UTC)', since, errorAt(errors, 'since')),
          momentOf('until', 'Until (UTC)', until, errorAt(errors, 'until')),
        ]}
        clearHref={isFiltered ? url(base, '/console/audit') : undefined}
      />
      {found && (
        <DataTable
          caption="Events, newest first"
          columns={columns(page)}
          rows={found.entries}
          idOf={({ seq }) => `${seq}`}
          empty={<Nothing {...found} at={at} isFiltered={isFiltered} />}
          pages={{
            newerHref: found.newer === undefined ? undefined : at({ after: `${found.newer}` }),
            olderHref: found.older === undefined ? undefined : at({ before: `${found.older}` }),
          }}
        />
      )}
    </>
  )
}

/** A time filter. Values that a picker can't show, such as a time with a zone, become a text input. */
const momentOf = (
  name: string,
  label: string,
  value: string | undefined,
  error: string | undefined,
): FilterInput => ({
  name,
  label,
  value,
  error,
  type: /^(\d{4}-\d\d-\d\dT\d\d:\d\d)?$/.test(value ?? '') ? 'datetime-local' : 'text',
})

function sentenceOn(page: AuditProps, isFiltered: boolean) {
  const { found, query, now } = page
  if (!found) return 'No events shown. Fix the filter.'
  const [latest] = found.entries
  if (!latest) return isFiltered ? 'No matching events' : 'No events yet'
  if (query.before !== undefined || query.after !== undefined)
    return isFiltered ? 'Older matching events' : 'Older events'
  return (
    <>
      {isFiltered ? 'Latest matching event: ' : 'Latest event: '}
      <Text text={latest.action} limit={48} /> by {nameOf(latest, page.names)}{' '}
      <Time at={latest.at} now={now} />
    </>
  )
}

const Nothing = (page: Found & { at: (more: AuditQuery) => string; isFiltered: boolean }) => (
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
          <LinkButton href={page.at({ after: `${page.newer}` })}>Newer</LinkButton>
        )}
        {page.older !== undefined && (
          <LinkButton weight="primary" href={page.at({ before: `${page.older}` })}>
            Search older events
          </LinkButton>
        )}
      </>
    }
  />
)
