import type { MemberRow } from '../../../../src/console/operators/store.ts'
import type { Fields } from '../../../../src/http/body.ts'
import type { Usage } from '../../../../src/platform/metering/index.ts'
import { PLANS, type Plan, type Tenant } from '../../../../src/platform/tenants.ts'
import { Meter } from '../../charts/meter.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { type Fact, Facts } from '../../facts.tsx'
import { Button, LinkButton } from '../../form/button.tsx'
import { Radios } from '../../form/choices.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { Select } from '../../form/select.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { numeral, PLAN_LABELS, STATUS_MARKS } from './tenants.tsx'

const PATH = '/console/admin/tenants'
const LONGEST_NAME = 200

interface FormPage {
  base: string
  typed?: Fields | undefined
  errors?: readonly FormError[] | undefined
}

const textIn = (fields: Fields | undefined, name: string): string | undefined => {
  const value = fields?.[name]
  return typeof value === 'string' ? value : undefined
}

const messageIn = ({ errors }: FormPage, name: string) =>
  errors?.find((error) => error.name === name)?.message

/** Names a tenant, and says what it may use. */
export const NewTenantPage = (page: FormPage & { defaultPlan: Plan }) => (
  <>
    <PageHead
      title="New tenant"
      state={{ sentence: 'It owns its keys, people and data; no other tenant sees them.' }}
    />
    <Form
      action={url(page.base, PATH)}
      errors={page.errors ?? []}
      buttons={<Button weight="primary">Create tenant</Button>}
    >
      <Field
        name="name"
        label="Name"
        isFocused={!page.errors}
        value={textIn(page.typed, 'name')}
        error={messageIn(page, 'name')}
        help={`What people call it; at most ${LONGEST_NAME} characters.`}
      />
      <Radios
        name="plan"
        label="Plan"
        value={textIn(page.typed, 'plan') ?? page.defaultPlan}
        error={messageIn(page, 'plan')}
        options={PLANS.map((value) => ({ value, ...PLAN_LABELS[value] }))}
      />
    </Form>
  </>
)

/** The form of a tenant's page again, where it was filled in wrong. */
export const ChangeTenantPage = (page: FormPage & { tenant: Tenant }) => {
  const href = url(page.base, `${PATH}/${page.tenant.id}`)
  return (
    <>
      <PageHead
        title="Change tenant"
        state={{
          sentence: (
            <>
              Nothing of <Text text={page.tenant.name} limit={60} /> has changed yet.
            </>
          ),
        }}
      />
      <Form
        action={`${href}/change`}
        errors={page.errors ?? []}
        buttons={
          <>
            <Button weight="primary">Change tenant</Button>
            <LinkButton weight="bare" href={href}>
              Keep
            </LinkButton>
          </>
        }
      >
        <TenantFields {...page} />
      </Form>
    </>
  )
}

const TenantFields = (form: FormPage & { tenant: Tenant }) => {
  const { tenant, typed } = form
  return (
    <>
      <Field
        name="name"
        label="Name"
        value={textIn(typed, 'name') ?? tenant.name}
        error={messageIn(form, 'name')}
      />
      <Select
        name="plan"
        label="Plan"
        value={textIn(typed, 'plan') ?? tenant.plan}
        error={messageIn(form, 'plan')}
        options={PLANS.map((value) => ({ value, label: PLAN_LABELS[value].label }))}
      />
      <Field
        name="spend_cap_cents"
        label="Spend cap"
        isRequired={false}
        suffix="cents"
        value={textIn(typed, 'spend_cap_cents') ?? tenant.spend_cap_cents?.toString() ?? ''}
        error={messageIn(form, 'spend_cap_cents')}
        help="Most that a month on the metered plan may cost. Left empty, the default cap of the installation."
      />
    </>
  )
}

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
      <DangerZone items={dangersOf(page)} />
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
  { label: 'E-mail', isWide: true, cell: ({ email }) => <Text text={email} limit={60} /> },
  { label: 'Role', narrow: 'corner', cell: ({ role }) => role },
  { label: 'Since', align: 'right', cell: ({ createdAt }) => <Time at={createdAt} now={now} /> },
]

function dangersOf({ base, tenant }: { base: string; tenant: Tenant }) {
  const action = (verb: string) => url(base, `${PATH}/${tenant.id}/${verb}`)
  return [
    {
      title: 'Change it',
      text: 'Its name, its plan, and the most that a month may cost.',
      control: (
        <Confirm
          id="change"
          verb="Change tenant"
          question="Change this tenant?"
          consequence="A new plan or cap holds from the next request on; what was charged stays charged."
          action={action('change')}
          isHarmless
        >
          <TenantFields base={base} tenant={tenant} />
        </Confirm>
      ),
    },
    tenant.status === 'active' ? suspension(action('suspend')) : resumption(action('resume')),
  ]
}

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
