import type { MemberRow } from '../../../../src/console/operators/store/memberships.ts'
import type { Usage } from '../../../../src/platform/metering/index.ts'
import type { Tenant } from '../../../../src/platform/tenants.ts'
import { Address } from '../../address.tsx'
import { Meter } from '../../charts/meter.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { type Fact, Facts } from '../../facts.tsx'
import { LinkButton } from '../../form/button.tsx'
import { Select } from '../../form/select.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { numeral } from '../../words.ts'
import { TenantFields } from './tenant-form.tsx'
import { PLAN_LABELS, STATUS_MARKS } from './tenants.tsx'

const PATH = '/console/admin/tenants'
/** One tenant, as the installation sees it: who runs it and what it uses, and nothing of its data. */
export const TenantPage = (page: {
  base: string
  tenant: Tenant
  usage: Usage
  members: readonly MemberRow[]
  /** Whether whoever looks at it may act in it as well. */
  isMember: boolean
  now: number
}) => {
  const { base, tenant, usage, members, now } = page
  const { tone } = STATUS_MARKS[tenant.status]
  return (
    <>
      <PageHead
        title={<Text text={tenant.name} />}
        state={{ tone, sentence: sentenceOn(tenant, usage) }}
        aside={
          <LinkButton href={url(base, '/console/admin/mail', { tenant: tenant.id })}>
            Its mails
          </LinkButton>
        }
        action={changing(page)}
      />
      <Section id="about" title="About" isCard>
        <Facts facts={factsOf(tenant, now)} />
      </Section>
      <Section id="usage" title={`Usage in ${usage.month}`} isCard>
        {usage.included_requests !== null && (
          <Meter
            label="Included requests"
            value={usage.requests}
            max={usage.included_requests}
            amount={`${numeral(usage.requests)} of ${numeral(usage.included_requests)}`}
          />
        )}
        <Facts facts={factsOn(usage, now)} />
      </Section>
      <Section id="members" title="Members">
        <DataTable
          caption="Members"
          columns={columns(now)}
          rows={members}
          hrefOf={({ id }) => url(base, `/console/admin/operators/${id}`)}
          idOf={({ id }) => id}
          empty={
            <EmptyState
              icon="team"
              sentence="Nobody runs this tenant at the console."
              next={
                <>
                  From a terminal:{' '}
                  <code>
                    gatehouse operator create --email ADDRESS --tenant {tenant.id} --role owner
                  </code>
                </>
              }
            />
          }
        />
        <p class="hint">
          {page.isMember
            ? 'You are a member: choose the tenant at the top left to open its pages.'
            : 'Its pages open to its members alone; to run the installation is no way in.'}
        </p>
      </Section>
      <DangerZone items={[danger(page)]} />
    </>
  )
}

function sentenceOn({ status, plan }: Tenant, { requests, left_requests: left }: Usage): string {
  if (status === 'suspended') return 'Suspended for an open bill: new work of it is refused.'
  if (status === 'renewal_unpaid')
    return 'Suspended for an unpaid renewal: new work of it is refused.'
  const used = `${numeral(requests)} ${requests === 1 ? 'request' : 'requests'} this month`
  if (left === 0) return `Active, and its month is used up: ${used}.`
  return `Active on the ${plan} plan: ${used}.`
}

const factsOf = (tenant: Tenant, now: number): Fact[] => [
  ['Id', <Id id={tenant.id} what="tenant id" />],
  ['Plan', PLAN_LABELS[tenant.plan].label],
  ['Status', <StatusMark {...STATUS_MARKS[tenant.status]} />],
  [
    'Spend cap',
    tenant.spend_cap_cents === null
      ? 'the default of the installation'
      : `${numeral(tenant.spend_cap_cents)} cents a month`,
  ],
  ['Created', <Time at={Date.parse(tenant.created_at)} now={now} />],
  ['Changed', <Time at={Date.parse(tenant.updated_at)} now={now} />],
]

const factsOn = (usage: Usage, now: number): Fact[] => [
  ['Requests', numeral(usage.requests)],
  ...enginesIn(usage).map(([engine, requests]): Fact => [`of ${engine}`, numeral(requests)]),
  ['Billed', numeral(usage.billed_requests)],
  ['Cost', `${numeral(usage.cost_cents)} cents`],
  ...(usage.spend_cap_cents === null
    ? []
    : [['Spend cap in force', `${numeral(usage.spend_cap_cents)} cents`] as const]),
  ['Left', usage.left_requests === null ? 'no end' : numeral(usage.left_requests)],
  ['Begins anew', <Time at={Date.parse(usage.resets_at)} now={now} />],
]

const enginesIn = ({ days }: Usage): [string, number][] =>
  [...Map.groupBy(days, ({ engine }) => engine)].map(([engine, of]) => [
    engine,
    of.reduce((sum, { requests }) => sum + requests, 0),
  ])

const columns = (now: number): Column<MemberRow>[] => [
  { label: 'E-mail', isWide: true, cell: (member) => <Address {...member} limit={60} /> },
  { label: 'Role', narrow: 'corner', cell: ({ role }) => role },
  { label: 'Since', align: 'right', cell: ({ createdAt }) => <Time at={createdAt} now={now} /> },
]

const actionOn = ({ base, tenant }: { base: string; tenant: Tenant }, verb: string) =>
  url(base, `${PATH}/${tenant.id}/${verb}`)

const changing = (page: { base: string; tenant: Tenant }) => (
  <Confirm
    id="change"
    verb="Change tenant"
    question="Change this tenant?"
    consequence="A new plan or cap holds from the next request on; what was charged stays charged."
    action={actionOn(page, 'change')}
    isPrimary
  >
    <TenantFields base={page.base} tenant={page.tenant} />
  </Confirm>
)

const danger = (page: { base: string; tenant: Tenant }) =>
  page.tenant.status === 'active'
    ? suspension(actionOn(page, 'suspend'))
    : resumption(actionOn(page, 'resume'))

const suspension = (action: string) => ({
  title: 'Suspend it',
  text: 'New work is refused until it is resumed. A tenant cannot be deleted: this is how one ends.',
  control: (
    <Confirm
      id="suspend"
      verb="Suspend tenant"
      question="Suspend this tenant?"
      consequence="Its programs are answered 402 where they make something new. What is there stays, and is still read and sent."
      action={action}
    >
      <Select
        name="reason"
        label="Why"
        value="billing"
        options={[
          { value: 'billing', label: 'An open bill' },
          { value: 'renewal', label: 'An unpaid renewal' },
        ]}
      />
    </Confirm>
  ),
})

const resumption = (action: string) => ({
  title: 'Resume it',
  text: 'It takes new work again. A tenant cannot be deleted: it stays suspended, or goes on.',
  control: (
    <Confirm
      id="resume"
      verb="Resume tenant"
      question="Resume this tenant?"
      consequence="Its programs may make something new again, as its plan allows."
      action={action}
      isHarmless
    />
  ),
})
