import type { Decision } from '../../../../../src/engines/gate/authorization/model.ts'
import type { Page } from '../../../../../src/platform/cursor.ts'
import { type Column, DataTable } from '../../../data-table.tsx'
import { EmptyState } from '../../../empty-state.tsx'
import { FilterBar } from '../../../filter-bar.tsx'
import { LinkButton } from '../../../form/button.tsx'
import { ErrorSummary, type FormError } from '../../../form/error-summary.tsx'
import { type ListPosition, pagerLinks } from '../../../list-position.ts'
import { PageHead } from '../../../page-head.tsx'
import { StatusBadge } from '../../../status-badge.tsx'
import { shorten, shortenMiddle, Text } from '../../../text.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { capitalized } from '../../../words.ts'
import { DECISIONS } from './state.ts'
import { Views } from './views.tsx'

/** Latest authorization decisions. */
export const DecisionsPage = (page: {
  base: string
  apiUrl: string
  now: number
  found: Page<Decision>
  subject: string
  position: ListPosition
  errors?: readonly FormError[]
}) => {
  const { base, now, found, subject, position } = page
  const href = (of: ListPosition) => url(base, DECISIONS, { subject, ...of })
  return (
    <>
      <PageHead title="Policies" state={{ sentence: sentenceOn(found.data, subject) }} />
      <Views base={base} current="decisions" />
      <ErrorSummary errors={page.errors ?? []} />
      <FilterBar
        action={url(base, DECISIONS)}
        search={{ name: 'subject', label: 'Search by exact user ID or service', value: subject }}
        clearHref={subject === '' ? undefined : url(base, DECISIONS)}
      />
      <DataTable
        caption="Decisions"
        columns={columns(now)}
        rows={found.data}
        hrefOf={({ decision_id: id }) => url(base, `${DECISIONS}/${id}`)}
        idOf={({ decision_id: id }) => id}
        pages={pagerLinks(position, found.next_cursor, href)}
        empty={
          subject || position.cursor ? (
            <EmptyState
              icon="search"
              sentence="No matching decisions"
              action={<LinkButton href={url(base, DECISIONS)}>View all decisions</LinkButton>}
            />
          ) : (
            <EmptyState
              icon="policies"
              sentence="No decisions yet"
              next="Your apps ask whether a subject is allowed to do something. Each decision appears here with its reason."
              curl={{
                url: `${page.apiUrl}/v1/gate/authorize`,
                headers: { Authorization: 'Bearer $KEY', 'Content-Type': 'application/json' },
                body: { subject: 'billing', action: 'invoices.read', resource: 'document:42' },
              }}
            />
          )
        }
      />
    </>
  )
}

function sentenceOn(decisions: readonly Decision[], subject: string): string {
  if (decisions.length === 0) return subject ? 'No matching decisions' : 'No decisions yet'
  const allowed = decisions.filter((one) => one.allowed).length
  return `On this page: ${allowed} allowed, ${decisions.length - allowed} denied`
}

export const Outcome = ({ allowed }: Pick<Decision, 'allowed'>) =>
  allowed ? <StatusBadge tone="good" word="allowed" /> : <StatusBadge tone="bad" word="denied" />

/** A name that contains an ID, shortened in the middle. */
const ShortenedId = ({ of }: { of: string }) => (
  <code title={of}>{shortenMiddle(shorten(of), 15, 4)}</code>
)

const columns = (now: number): Column<Decision>[] => [
  { label: 'Action', isMono: true, cell: ({ action }) => <Text text={action} limit={60} /> },
  { label: 'Result', narrow: 'corner', cell: (decision) => <Outcome {...decision} /> },
  { label: 'Resource', cell: ({ resource }) => <ShortenedId of={resource} /> },
  { label: 'Subject', cell: ({ subject }) => <ShortenedId of={subject} /> },
  {
    label: 'Reason',
    isWide: true,
    cell: ({ reason }) => <Text text={capitalized(reason)} limit={120} />,
  },
  { label: 'Time', align: 'right', cell: ({ at }) => <Time at={Date.parse(at)} now={now} /> },
]
