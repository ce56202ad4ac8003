import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { ErrorSummary } from '../../../../views/ui/form/form.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { JsonView } from '../../../../views/ui/json.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Tabs } from '../../../../views/ui/tabs.tsx'
import { LongText, shorten, shortenMiddle, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { Decision } from '../../../engines/gate/authorization/model.ts'
import type { Page } from '../../../platform/cursor.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { submitted } from '../../form.ts'
import { ListChips, ListFilters, NoMatches, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { timeFilterIn } from '../../time-filter.ts'

const ON_A_PAGE = 50
/** Denied decisions are counted up to this number. */
const MAX_COUNTED = 1000
const SORTS = { time: 'desc' } as const

/** Latest authorization decisions. */
export const decisionList = page({
  path: '/policies/decisions',
  section: 'policies',
  right: 'read',
  title: 'Decisions',

  async load(context) {
    const { gate, caller, position } = context
    const { value, errors } = await submitted(async () =>
      matching(context, { limit: ON_A_PAGE, cursor: position.cursor }),
    )
    const found: Page<Decision> = value ?? { data: [], has_more: false, next_cursor: null }
    const denied = gate.decisions.countDenied(caller('gate', 'live'), MAX_COUNTED)
    return { found, denied, errors, time: timeFilterIn(context) }
  },

  status: ({ errors, time }) => (errors || time.errors.length > 0 ? 422 : 200),

  view({ found, denied, errors, time }) {
    const { href } = usePage()
    const { isFiltered, isFirst, pagesTo, sortedBy } = useList()
    const isEmpty = found.data.length === 0 && !isFiltered && isFirst
    return (
      <>
        <PageHead
          title="Policies"
          state={{ sentence: isEmpty ? 'No decisions yet' : sentenceOn(found.data) }}
          aside={!isEmpty && <ExportMenu />}
        />
        <PolicyTabs current="decisions" />
        <ErrorSummary errors={errors ?? []} />
        <ListChips
          name="result"
          label="Result"
          most={MAX_COUNTED}
          chips={[
            { value: 'denied', label: 'Denied', count: denied, tone: 'bad' },
            { value: 'allowed', label: 'Allowed' },
          ]}
        />
        <ListFilters
          search={{ name: 'subject', label: 'Search by exact user ID or service' }}
          time={time}
        />
        <DataTable
          caption="Decisions"
          columns={COLUMNS}
          rows={found.data}
          hrefOf={({ decision_id: id }) => href(`/policies/decisions/${id}`)}
          idOf={({ decision_id: id }) => id}
          pages={pagesTo(found.next_cursor)}
          sorting={sortedBy(SORTS)}
          empty={isEmpty ? <NoDecisions /> : <NoMatches icon="search" noun="decisions" />}
        />
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'decisions',
      columns: {
        id: (row) => row.decision_id,
        at: ({ at }) => at,
        environment: ({ environment }) => environment,
        subject: ({ subject }) => subject,
        action: ({ action }) => action,
        resource: ({ resource }) => resource,
        allowed: ({ allowed }) => allowed,
        reason: ({ reason }) => reason,
        policies: ({ policies }) => policies.join(' '),
        policies_version: (row) => row.policies_version,
      },
      slices: (context: PageContext) => pagesOf((of) => matching(context, of)),
    }),
  },
})

const RESULTS: Readonly<Record<string, boolean>> = { allowed: true, denied: false }

/** Decisions that match the filter of the query string, in its order. */
function matching(context: PageContext, of: { cursor: string | undefined; limit: number }) {
  const { gate, caller, query } = context
  const { since, until } = timeFilterIn(context)
  return gate.decisions.list(caller('gate', 'live'), {
    ...{ ...of, since, until },
    subject: query.subject || undefined,
    isAllowed: RESULTS[query.result ?? ''],
    isAscending: !sortingIn(query.sort, SORTS).isDescending,
  })
}

function sentenceOn(decisions: readonly Decision[]): string {
  if (decisions.length === 0) return 'No matching decisions'
  const allowed = decisions.filter((one) => one.allowed).length
  return `On this page: ${allowed} allowed, ${decisions.length - allowed} denied`
}

const NoDecisions = () => (
  <EmptyState
    icon="policies"
    sentence="No decisions yet"
    next="Your apps ask whether a subject is allowed to do something. Each decision appears here with its reason."
    curl={{
      url: `${usePage().baseUrl()}/v1/gate/authorize`,
      headers: { Authorization: 'Bearer $KEY', 'Content-Type': 'application/json' },
      body: { subject: 'billing', action: 'invoices.read', resource: 'document:42' },
    }}
  />
)

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
  { label: 'Time', align: 'right', sort: 'time', cell: ({ at }) => <Time at={Date.parse(at)} /> },
]

/** One authorization decision: request, result and policies. */
export const decisionPage = page({
  path: '/policies/decisions/:id',
  section: 'policies',
  right: 'read',

  load({ gate, params, ...context }) {
    const caller = context.caller('gate', 'live')
    const decision = gate.decisions.get(caller, params.id)
    const { is_starter_set: isStarterSet, version } = gate.policies.get(caller)
    return {
      decision,
      subject: gate.identities.find(caller, decision.subject),
      version: isStarterSet ? 0 : version,
    }
  },

  title: ({ decision }) => decision.action,
  above: (_, { href }) => [{ label: 'Decisions', href: href('/policies/decisions') }],

  view({ decision, subject, version }) {
    const { href } = usePage()
    const { action, resource, context } = decision
    const again = href('/policies', {
      subject: decision.subject,
      action,
      resource,
      context: Object.keys(context).length === 0 ? undefined : JSON.stringify(context),
    })
    return (
      <>
        <PageHead
          title={<Text text={action} limit={64} />}
          state={{
            tone: decision.allowed ? 'good' : 'bad',
            sentence: <LongText text={`${capitalized(decision.reason)}.`} />,
          }}
          action={<LinkButton href={`${again}#try`}>Evaluate again</LinkButton>}
        />
        <Section id="question" title="Request" isCard>
          <Facts
            facts={[
              [
                'Subject',
                subject ? (
                  <a href={href(`/identities/${subject.id}`)}>
                    <Text text={subject.traits.email} />
                  </a>
                ) : (
                  <Text text={decision.subject} />
                ),
              ],
              ['Action', <Text text={action} />],
              ['Resource', <Text text={resource} />],
              ['Time', <Time at={Date.parse(decision.at)} />],
              ['Environment', capitalized(decision.environment)],
              ['ID', <Id id={decision.decision_id} what="decision ID" />],
            ]}
          />
          {Object.keys(context).length > 0 && <JsonView title="Context" value={context} />}
        </Section>
        <Section id="answer" title="Decision" isCard>
          <Facts
            facts={[
              ['Result', <Outcome {...decision} />],
              ['Decided by', <Text text={decision.policies.join(', ') || 'No policy'} />],
              ['Policy version', versionOf(decision.policies_version, version)],
            ]}
          />
        </Section>
        <Section id="raw" title="API object">
          <JsonView title="Decision" value={decision} />
        </Section>
      </>
    )
  },
})

function versionOf(then: number, now: number): string {
  const name = then === 0 ? 'Starter set' : `Version ${then}`
  return then === now ? `${name} (current)` : `${name} (no longer current)`
}

/** Tabs: policies and decisions. */
export function PolicyTabs({ current }: { current: 'policies' | 'decisions' }) {
  const { href } = usePage()
  return (
    <Tabs
      label="Views"
      tabs={[
        { label: 'Policies', href: href('/policies'), isCurrent: current === 'policies' },
        {
          label: 'Decisions',
          href: href('/policies/decisions'),
          isCurrent: current === 'decisions',
        },
      ]}
    />
  )
}
