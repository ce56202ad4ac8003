import { Meter } from '../../../../views/ui/charts/meter.tsx'
import { Confirm, DangerZone } from '../../../../views/ui/confirm.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Select } from '../../../../views/ui/form/choices.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { type Fact, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Address, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized, money, monthName, numeral } from '../../../../views/ui/words.ts'
import type { Fields } from '../../../http/body.ts'
import type { Engine } from '../../../platform/engines.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import type { Usage } from '../../../platform/metering/index.ts'
import { SUSPEND_REASONS, type SuspendReason, type Tenant } from '../../../platform/tenants.ts'
import { ENGINE_WORDS } from '../../engine-words.ts'
import { trimmedText } from '../../form.ts'
import type { MemberRow } from '../../operators/memberships.ts'
import { good, page } from '../../page.tsx'
import {
  PLAN_LABELS,
  STATUS_BADGES,
  TENANT_FIELDS,
  TenantFields,
  tenantChangeIn,
} from './tenants.tsx'

/** One tenant, as admins see it: plan, usage and members, but none of its data. */
export const tenantPage = page({
  path: '/tenants/:id',
  section: 'tenants',
  right: 'admin',

  load: async ({ tenants, metering, operators, operator, params: { id } }) => ({
    tenant: tenants.find(id),
    usage: await metering.usageOf(id),
    members: operators.memberships.list(id),
    /** Whether the admin is a member of the tenant. */
    isMember: operator.memberships.some(({ tenantId }) => tenantId === id),
  }),

  title: ({ tenant }) => tenant.name,

  view({ tenant, usage, members, isMember }) {
    const { href, submission } = useHere()
    if (submission) return <RefusedChange tenant={tenant} />
    const { tone } = STATUS_BADGES[tenant.status]
    return (
      <>
        <PageHead
          title={<Text text={tenant.name} />}
          state={{ tone, sentence: sentenceOn(tenant, usage) }}
          aside={<LinkButton href={href('/mail', { tenant: tenant.id })}>Emails</LinkButton>}
          action={<Changing tenant={tenant} />}
        />
        <Section id="about" title="About" isCard>
          <Facts facts={factsOf(tenant)} />
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
          <Facts facts={factsOn(usage)} />
        </Section>
        <Section id="members" title="Members">
          <DataTable
            caption="Members"
            columns={COLUMNS}
            rows={members}
            hrefOf={({ id }) => href(`/operators/${id}`)}
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
            {isMember
              ? 'You are a member. To open its pages, select the tenant at the top left.'
              : 'Only members can open its pages. Admins have no access to its data.'}
          </p>
        </Section>
        <DangerZone items={[tenant.status === 'active' ? suspension() : resumption()]} />
      </>
    )
  },

  actions: {
    change: {
      right: 'admin',
      form: TENANT_FIELDS,
      flash: { changed: good('Tenant updated.'), unchanged: good('No changes.') },
      async run({ tenants, actor, params, fields }) {
        const change = tenantChangeIn(fields, tenants.find(params.id))
        if (Object.keys(change).length === 0) return { flash: 'unchanged' }
        await tenants.change(actor, params.id, change)
        return { flash: 'changed' }
      },
    },
    suspend: {
      right: 'admin',
      flash: good('Tenant suspended.'),
      async run({ tenants, actor, params, fields }) {
        await tenants.suspend(actor, tenants.find(params.id).id, reasonIn(fields))
      },
    },
    resume: {
      right: 'admin',
      flash: good('Tenant resumed.'),
      async run({ tenants, actor, params }) {
        if (tenants.find(params.id).status !== 'active') await tenants.resume(actor, params.id)
      },
    },
  },
})

const reasonIn = (fields: Fields): SuspendReason =>
  SUSPEND_REASONS.find((one) => one === trimmedText(fields, 'reason')) ??
  fail(invalid(`must be one of ${SUSPEND_REASONS.join(', ')}`, { field: 'reason', rule: 'choice' }))

/** The form of the page's dialog, with its errors. */
const RefusedChange = ({ tenant }: { tenant: Tenant }) => (
  <>
    <PageHead
      title="Edit tenant"
      state={{
        sentence: (
          <>
            <Text text={tenant.name} limit={60} /> has not changed yet.
          </>
        ),
      }}
    />
    <PageForm
      action="change"
      buttons={<Button weight="primary">Save tenant</Button>}
      cancel={`/tenants/${tenant.id}`}
    >
      <TenantFields tenant={tenant} />
    </PageForm>
  </>
)

function sentenceOn({ status, plan }: Tenant, { requests, left_requests: left }: Usage): string {
  if (status === 'suspended')
    return "Suspended because of an unpaid bill. It can't create anything new."
  if (status === 'renewal_unpaid')
    return "Suspended because of an unpaid renewal. It can't create anything new."
  const used = `${numeral(requests)} ${requests === 1 ? 'request' : 'requests'} this month`
  if (left === 0) return `Active, limit reached: ${used}`
  return `Active on the ${plan} plan, ${used}`
}

const factsOf = (tenant: Tenant): Fact[] => [
  ['ID', <Id id={tenant.id} what="tenant ID" />],
  ['Plan', PLAN_LABELS[tenant.plan].label],
  ['Status', <StatusBadge {...STATUS_BADGES[tenant.status]} />],
  [
    'Spend cap',
    tenant.spend_cap_cents === null
      ? 'Default of the installation'
      : `${money(tenant.spend_cap_cents)} per month`,
  ],
  ['Created', <Time at={Date.parse(tenant.created_at)} />],
  ['Updated', <Time at={Date.parse(tenant.updated_at)} />],
]

const factsOn = (usage: Usage): Fact[] => [
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
  ['Resets', <Time at={Date.parse(usage.resets_at)} />],
]

const enginesIn = ({ days }: Usage): [Engine, number][] =>
  [...Map.groupBy(days, ({ engine }) => engine)].map(([engine, of]) => [
    engine,
    of.reduce((sum, { requests }) => sum + requests, 0),
  ])

const COLUMNS: Column<MemberRow>[] = [
  { label: 'Email', isWide: true, cell: (member) => <Address {...member} limit={60} /> },
  { label: 'Role', narrow: 'corner', cell: ({ role }) => capitalized(role) },
  { label: 'Joined', align: 'right', cell: ({ createdAt }) => <Time at={createdAt} /> },
]

const Changing = ({ tenant }: { tenant: Tenant }) => (
  <Confirm
    id="change"
    verb="Edit tenant"
    question="Edit tenant"
    consequence="A new plan or cap applies to the next request. Past charges don't change."
    action={useHere().actionHref('change')}
    isPrimary
  >
    <TenantFields tenant={tenant} />
  </Confirm>
)

const suspension = () => ({
  title: 'Suspend tenant',
  text: "The tenant can't create anything new until you resume it.",
  control: (
    <Confirm
      id="suspend"
      verb="Suspend tenant"
      question="Suspend this tenant?"
      consequence="API requests that create something return 402. Existing data is kept and can be read, and pending work is still sent."
      action={useHere().actionHref('suspend')}
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

const resumption = () => ({
  text: 'The tenant can create new objects again.',
  id: 'resume',
  verb: 'Resume tenant',
  question: 'Resume this tenant?',
  consequence: 'The tenant can create new objects again, within the limits of its plan.',
  action: useHere().actionHref('resume'),
  isHarmless: true,
})
