import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { ErrorSummary } from '../../../../views/ui/form/form.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { JsonView } from '../../../../views/ui/json.tsx'
import { type ListPosition, pagerLinks } from '../../../../views/ui/pager.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
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
import { type PageContext, page, usePage } from '../../page.tsx'
import { timeFilterIn } from '../../time-filter.ts'

const ON_A_PAGE = 50
const DECISIONS = '/policies/decisions'

/** Latest authorization decisions. */
export const decisionList = page({
  path: '/policies/decisions',
  section: 'policies',
  right: 'read',
  title: 'Decisions',

  async load(context) {
    const { subject = '', cursor } = context.query
    const { value, errors } = await submitted(async () =>
      matching(context, { limit: ON_A_PAGE, cursor: cursor || undefined }),
    )
    const found: Page<Decision> = value ?? { data: [], has_more: false, next_cursor: null }
    return { found, subject, errors, time: timeFilterIn(context) }
  },

  status: ({ errors, time }) => (errors || time.errors.length > 0 ? 422 : 200),

  view({ found, subject, errors, time }) {
    const { href, position, baseUrl } = usePage()
    const hrefOf = (of: ListPosition) => href(DECISIONS, { subject, ...time.query, ...of })
    return (
      <>
        <PageHead
          title="Policies"
          state={{ sentence: sentenceOn(found.data, subject) }}
          aside={found.data.length > 0 && <ExportMenu />}
        />
        <PolicyTabs current="decisions" />
        <ErrorSummary errors={errors ?? []} />
        <FilterBar
          action={href(DECISIONS)}
          search={{ name: 'subject', label: 'Search by exact user ID or service', value: subject }}
          filters={[time.filter]}
          inputs={time.inputs}
          clearHref={subject === '' && !time.isSet ? undefined : href(DECISIONS)}
        />
        <DataTable
          caption="Decisions"
          columns={COLUMNS}
          rows={found.data}
          hrefOf={({ decision_id: id }) => href(`${DECISIONS}/${id}`)}
          idOf={({ decision_id: id }) => id}
          pages={pagerLinks(position, found.next_cursor, hrefOf)}
          empty={
            subject || time.isSet || position.cursor ? (
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

/** Decisions that match the search of the query string. */
function matching(context: PageContext, of: { cursor: string | undefined; limit: number }) {
  const { gate, caller, query } = context
  const { since, until } = timeFilterIn(context)
  const subject = query.subject || undefined
  return gate.decisions.list(caller('gate', 'live'), { ...of, subject, since, until })
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
