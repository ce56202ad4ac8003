import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { ErrorSummary } from '../../../../views/ui/form/form.tsx'
import { type ListPosition, pagerLinks } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { shorten, shortenMiddle, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { Decision } from '../../../engines/gate/authorization/model.ts'
import type { Page } from '../../../platform/cursor.ts'
import { submitted } from '../../form.ts'
import { page, usePage } from '../../page.tsx'
import { PolicyTabs } from './policy-tabs.tsx'

const ON_A_PAGE = 50
const DECISIONS = '/policies/decisions'

/** Latest authorization decisions. */
export const decisionList = page({
  path: '/policies/decisions',
  section: 'policies',
  right: 'read',
  title: 'Decisions',

  async load({ gate, caller, query }) {
    const { subject = '' } = query
    const of = {
      limit: ON_A_PAGE,
      cursor: query.cursor || undefined,
      ...(subject !== '' && { subject }),
    }
    const { value, errors } = await submitted(async () =>
      gate.decisions.list(caller('gate', 'live'), of),
    )
    const found: Page<Decision> = value ?? { data: [], has_more: false, next_cursor: null }
    return { found, subject, errors }
  },

  status: ({ errors }) => (errors ? 422 : 200),

  view({ found, subject, errors }) {
    const { href, position, baseUrl } = usePage()
    const hrefOf = (of: ListPosition) => href(DECISIONS, { subject, ...of })
    return (
      <>
        <PageHead title="Policies" state={{ sentence: sentenceOn(found.data, subject) }} />
        <PolicyTabs current="decisions" />
        <ErrorSummary errors={errors ?? []} />
        <FilterBar
          action={href(DECISIONS)}
          search={{ name: 'subject', label: 'Search by exact user ID or service', value: subject }}
          clearHref={subject === '' ? undefined : href(DECISIONS)}
        />
        <DataTable
          caption="Decisions"
          columns={COLUMNS}
          rows={found.data}
          hrefOf={({ decision_id: id }) => href(`${DECISIONS}/${id}`)}
          idOf={({ decision_id: id }) => id}
          pages={pagerLinks(position, found.next_cursor, hrefOf)}
          empty={
            subject || position.cursor ? (
              <EmptyState
                icon="search"
                sentence="No matching decisions"
                action={<LinkButton href={href(DECISIONS)}>View all decisions</LinkButton>}
              />
            ) : (
              <EmptyState
                icon="policies"
                sentence="No decisions yet"
                next="Your apps ask whether a subject is allowed to do something. Each decision appears here with its reason."
                curl={{
                  url: `${baseUrl()}/v1/gate/authorize`,
                  headers: { Authorization: 'Bearer $KEY', 'Content-Type': 'application/json' },
                  body: { subject: 'billing', action: 'invoices.read', resource: 'document:42' },
                }}
              />
            )
          }
        />
      </>
    )
  },
})

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

const COLUMNS: Column<Decision>[] = [
  { label: 'Action', isMono: true, cell: ({ action }) => <Text text={action} limit={60} /> },
  { label: 'Result', narrow: 'corner', cell: (decision) => <Outcome {...decision} /> },
  { label: 'Resource', cell: ({ resource }) => <ShortenedId of={resource} /> },
  { label: 'Subject', cell: ({ subject }) => <ShortenedId of={subject} /> },
  {
    label: 'Reason',
    isWide: true,
    cell: ({ reason }) => <Text text={capitalized(reason)} limit={120} />,
  },
  { label: 'Time', align: 'right', cell: ({ at }) => <Time at={Date.parse(at)} /> },
]
