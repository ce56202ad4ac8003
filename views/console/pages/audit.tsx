import { errorAt } from '../../../src/console/form.ts'
import type { LoggedEntry } from '../../../src/platform/audit/index.ts'
import { DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { FilterBar, type FilterInput } from '../filter-bar.tsx'
import { DownloadButton, LinkButton } from '../form/button.tsx'
import { ErrorSummary, type FormError } from '../form/error-summary.tsx'
import { PageHead } from '../page-head.tsx'
import { FilterChips } from '../tabs.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import { url } from '../url.ts'
import { columns, nameOf } from './audit-entry.tsx'

/** What is looked for, and where in the log: all of it stands in the address. */
export type AuditQuery = Partial<
  Record<'action' | 'actor' | 'object' | 'since' | 'until' | 'before' | 'after' | 'format', string>
>

export interface Found {
  /** Newest first; a page may be empty and not the last. */
  entries: readonly LoggedEntry[]
  /** What to go on with, as `before` and `after`. */
  older: number | undefined
  newer: number | undefined
}

export interface AuditShown {
  base: string
  query: AuditQuery
  now: number
  /** Of operators, by their id. */
  names: ReadonlyMap<string, string>
  maySeeKeys: boolean
  /** Endpoints that are webhooks: the log calls both the same. */
  webhooks: ReadonlySet<string>
  /** None where the question itself is wrong. */
  found?: Found
  errors?: readonly FormError[]
}

/** The nouns that people ask for, by how their actions begin. */
const CHIPS = [
  { label: 'All', action: undefined },
  { label: 'Keys', action: 'key.' },
  { label: 'Team', action: 'member.' },
  { label: 'Identities', action: 'identity.' },
  { label: 'Jobs', action: 'job.' },
  { label: 'Bots', action: 'bot.' },
  { label: 'Endpoints', action: 'endpoint.' },
  { label: 'Tenant', action: 'tenant.' },
] as const

/** Who did what to what, and from where. */
export const AuditPage = (page: AuditShown) => {
  const { base, query, found, errors } = page
  const { action, actor, object, since, until } = query
  const filter = { action, actor, object, since, until }
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const at = (more: AuditQuery) => url(base, '/console/audit', { ...filter, ...more })
  const file = (format: string) => url(base, '/console/audit/export', { ...filter, format })
  return (
    <>
      <PageHead
        title="Audit"
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
        label="What was done"
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
            label: 'What',
            value: action,
            isMono: true,
            placeholder: 'key.revoked',
          },
          { name: 'object', label: 'To', value: object, isMono: true, placeholder: 'id' },
          { name: 'actor', label: 'By', value: actor, isMono: true, placeholder: 'id' },
          momentOf('since', 'Since, UTC', since, errorAt(errors, 'since')),
          momentOf('until', 'Until, UTC', until, errorAt(errors, 'until')),
        ]}
        clearHref={isFiltered ? url(base, '/console/audit') : undefined}
      />
      {found && (
        <DataTable
          caption="Entries, the newest first"
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

/** What no picker can show, such as a time with a zone, is there to read and to change as text. */
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

function sentenceOn(page: AuditShown, isFiltered: boolean) {
  const { found, query, now } = page
  if (!found) return 'Nothing is shown: the filter is not understood.'
  const [latest] = found.entries
  if (!latest)
    return isFiltered ? 'Nothing here answers to the filter.' : 'Nothing is recorded yet.'
  if (query.before !== undefined || query.after !== undefined)
    return isFiltered ? 'Older entries that answer to the filter.' : 'Older entries.'
  return (
    <>
      {isFiltered ? 'The latest that answers to the filter: ' : 'The latest: '}
      <Text text={latest.action} limit={48} /> by {nameOf(latest, page.names)}{' '}
      <Time at={latest.at} now={now} />
    </>
  )
}

const Nothing = (page: Found & { at: (more: AuditQuery) => string; isFiltered: boolean }) => (
  <EmptyState
    icon="audit"
    sentence={page.isFiltered ? 'No entry here answers to the filter.' : 'No entry here.'}
    next={
      page.older === undefined
        ? 'Every change by a key, an operator, a person or the command line is recorded.'
        : 'Only a part of the log is looked through at once.'
    }
    action={
      <>
        {page.newer !== undefined && (
          <LinkButton href={page.at({ after: `${page.newer}` })}>Newer</LinkButton>
        )}
        {page.older !== undefined && (
          <LinkButton weight="primary" href={page.at({ before: `${page.older}` })}>
            Look further back
          </LinkButton>
        )}
      </>
    }
  />
)
