import type { MemberRow } from '../../../../src/console/operators/store/memberships.ts'
import type { Engine } from '../../../../src/platform/engines.ts'
import type { Usage } from '../../../../src/platform/metering/index.ts'
import type { Tenant } from '../../../../src/platform/tenants.ts'
import { Address } from '../../address.tsx'
import { money, monthName } from '../../amounts.ts'
import { Meter } from '../../charts/meter.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { ENGINE_WORDS } from '../../engine-words.ts'
import { type Fact, Facts } from '../../facts.tsx'
import { LinkButton } from '../../form/button.tsx'
import { Select } from '../../form/select.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { capitalized, numeral } from '../../words.ts'
import { TenantFields } from './tenant-form.tsx'
import { PLAN_LABELS, STATUS_BADGES } from './tenants.tsx'

const PATH = '/console/admin/tenants'
/** One tenant, as admins see it: plan, usage and members, but none of its data. */
export const TenantPage = (page: {
  base: string
  tenant: Tenant
  usage: Usage
  members: readonly MemberRow[]
  /** Whether the admin is a member of the tenant. */
  isMember: boolean
  now: number
}) => {
  const { base, tenant, usage, members, now } = page
  const { tone } = STATUS_BADGES[tenant.status]
  return (
    <>
      <PageHead
        title={<Text text={tenant.name} />}
        state={{ tone, sentence: sentenceOn(tenant, usage) }}
        aside={
          <LinkButton href={url(base, '/console/admin/mail', { tenant: tenant.id })}>
            Emails
          </LinkButton>
        }
        action={changing(page)}
      />
      <Section id="about" title="About" isCard>
        <Facts facts={factsOf(tenant, now)} />
      </Section>
      <Section id="usage" title={`Usage in ${monthName(usage.month)}`} isCard>
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
              sentence="No members yet"
              next={
                <>
                  Create an owner on the command line:{' '}
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
            ? 'You are a member. To open its pages, select the tenant at the top left.'
            : 'Only members can open its pages. Admins have no access to its data.'}
        </p>
      </Section>
      <DangerZone items={[danger(page)]} />
    </>
  )
}

function sentenceOn({ status, plan }: Tenant, { requests, left_requests: left }: Usage): string {
  if (status === 'suspended')
    return "Suspended because of an unpaid bill. It can't create anything new."
  if (status === 'renewal_unpaid')
    return "Suspended because of an unpaid renewal. It can't create anything new."
  const used = `${numeral(requests)} ${requests === 1 ? 'request' : 'requests'} this month`
  if (left === 0) return `Active, limit reached: ${used}`
  return `Active on the ${plan} plan, ${used}`
}

const factsOf = (tenant: Tenant, now: number): Fact[] => [
  ['ID', <Id id={tenant.id} what="tenant ID" />],
  ['Plan', PLAN_LABELS[tenant.plan].label],
  ['Status', <StatusBadge {...STATUS_BADGES[tenant.status]} />],
  [
    'Spend cap',
    tenant.spend_cap_cents === null
      ? 'Default of the installation'
      : `${money(tenant.spend_cap_cents)} per month`,
  ],
  ['Created', <Time at={Date.parse(tenant.created_at)} now={now} />],
  ['Updated', <Time at={Date.parse(tenant.updated_at)} now={now} />],
]

const factsOn = (usage: Usage, now: number): Fact[] => [
  ['Requests', numeral(usage.requests)],
  ...enginesIn(usage).map(
    ([engine, requests]): Fact => [ENGINE_WORDS[engine].label, numeral(requests)],
  ),
  ['Billed', numeral(usage.billed_requests)],
  ['Cost', money(usage.cost_cents)],
  ...(usage.spend_cap_cents === null
    ? []
    : [['Effective spend cap', money(usage.spend_cap_cents)] as const]),
  ['Remaining', usage.left_requests === null ? 'Unlimited' : numeral(usage.left_requests)],
  ['Resets', <Time at={Date.parse(usage.resets_at)} now={now} />],
]

const enginesIn = ({ days }: Usage): [Engine, number][] =>
  [...Map.groupBy(days, ({ engine }) => engine)].map(([engine, of]) => [
    engine,
    of.reduce((sum, { requests }) => sum + requests, 0),
  ])

const columns = (now: number): Column<MemberRow>[] => [
  { label: 'Email', isWide: true, cell: (member) => <Address {...member} limit={60} /> },
  { label: 'Role', narrow: 'corner', cell: ({ role }) => capitalized(role) },
  { label: 'Joined', align: 'right', cell: ({ createdAt }) => <Time at={createdAt} now={now} /> },
]

const actionOn = ({ base, tenant }: { base: string; tenant: Tenant }, verb: string) =>
  url(base, `${PATH}/${tenant.id}/${verb}`)

const changing = (page: { base: string; tenant: Tenant }) => (
  <Confirm
    id="change"
    verb="Edit tenant"
    question="Edit tenant"
    consequence="A new plan or cap applies to the next request. Past charges don't change."
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
  title: 'Suspend tenant',
  text: "The tenant can't create anything new until you resume it. Tenants can't be deleted.",
  control: (
    <Confirm
      id="suspend"
      verb="Suspend tenant"
      question="Suspend this tenant?"
      consequence="API requests that create something return 402. Existing data is kept and can be read, and pending work is still sent."
      action={action}
    >
      <Select
        name="reason"
        label="Reason"
        value="billing"
        options={[
          { value: 'billing', label: 'Unpaid bill' },
          { value: 'renewal', label: 'Unpaid renewal' },
        ]}
      />
    </Confirm>
  ),
})

const resumption = (action: string) => ({
  title: 'Resume tenant',
  text: 'The tenant can create new objects again.',
  control: (
    <Confirm
      id="resume"
      verb="Resume tenant"
      question="Resume this tenant?"
      consequence="The tenant can create new objects again, within the limits of its plan."
      action={action}
      isHarmless
    />
  ),
})
