import type { Decision } from '../../../../../src/engines/gate/model/authorization.ts'
import type { Page } from '../../../../../src/platform/cursor.ts'
import { type Column, DataTable } from '../../../data-table.tsx'
import { EmptyState } from '../../../empty-state.tsx'
import { FilterBar } from '../../../filter-bar.tsx'
import { LinkButton } from '../../../form/button.tsx'
import { ErrorSummary, type FormError } from '../../../form/error-summary.tsx'
import { PageHead } from '../../../page-head.tsx'
import { StatusMark } from '../../../status-mark.tsx'
import { shorten, shortenMiddle, Text } from '../../../text.tsx'
import { Time } from '../../../time.tsx'
import { type ListPlace, pagesAlong } from '../../../trail.ts'
import { url } from '../../../url.ts'
import { DECISIONS } from './state.ts'
import { Views } from './views.tsx'

/** What was asked of late, and what the answers were. */
export const DecisionsPage = (page: {
  base: string
  apiUrl: string
  now: number
  found: Page<Decision>
  subject: string
  place: ListPlace
  errors?: readonly FormError[]
}) => {
  const { base, now, found, subject, place } = page
  const href = (of: ListPlace) => url(base, DECISIONS, { subject, ...of })
  return (
    <>
      <PageHead title="Policies" state={{ sentence: sentenceOn(found.data, subject) }} />
      <Views base={base} current="decisions" />
      <ErrorSummary errors={page.errors ?? []} />
      <FilterBar
        action={url(base, DECISIONS)}
        search={{ name: 'subject', label: 'Whole id of an identity, or service', value: subject }}
        clearHref={subject === '' ? undefined : url(base, DECISIONS)}
      />
      <DataTable
        caption="Decisions"
        columns={columns(now)}
        rows={found.data}
        hrefOf={({ decision_id: id }) => url(base, `${DECISIONS}/${id}`)}
        idOf={({ decision_id: id }) => id}
        pages={pagesAlong(place, found.next_cursor, href)}
        empty={
          subject || place.cursor ? (
            <EmptyState
              icon="search"
              sentence="Nothing was asked about that."
              action={<LinkButton href={url(base, DECISIONS)}>Show all</LinkButton>}
            />
          ) : (
            <EmptyState
              icon="policies"
              sentence="Nobody has asked yet."
              next="Your programs ask whether somebody may do something; each answer is kept here with its reason."
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
  if (decisions.length === 0)
    return subject ? 'Nothing was asked about that.' : 'Nobody has asked yet.'
  const allowed = decisions.filter((one) => one.allowed).length
  const of = decisions.length === 1 ? 'the answer' : `the ${decisions.length} answers`
  return `Of ${of} shown, ${allowed} allowed and ${decisions.length - allowed} did not.`
}

export const Outcome = ({ allowed }: Pick<Decision, 'allowed'>) =>
  allowed ? <StatusMark tone="good" word="allowed" /> : <StatusMark tone="bad" word="not allowed" />

/** A name that holds an id is told apart by its ends, too. */
const Ends = ({ of }: { of: string }) => <code title={of}>{shortenMiddle(shorten(of), 15, 4)}</code>

const columns = (now: number): Column<Decision>[] => [
  { label: 'May do', isMono: true, cell: ({ action }) => <Text text={action} limit={60} /> },
  { label: 'Answer', narrow: 'corner', cell: (decision) => <Outcome {...decision} /> },
  { label: 'With', cell: ({ resource }) => <Ends of={resource} /> },
  { label: 'Who', cell: ({ subject }) => <Ends of={subject} /> },
  { label: 'Why', isWide: true, cell: ({ reason }) => <Text text={reason} limit={120} /> },
  {
    label: 'When',
    align: 'right',
    cell: ({ at }) => <Time at={Date.parse(at)} now={now} />,
  },
]
