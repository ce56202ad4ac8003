import { PORTABLE } from '../console/portable-tables.ts'
import type { Usage, UsageOfMonth } from '../platform/metering/index.ts'
import { isMonth } from '../platform/metering/months.ts'
import { createTenantDeletion } from '../platform/portable/deletion.ts'
import { PLANS, SUSPEND_REASONS, type Tenant, type TenantChange } from '../platform/tenants.ts'
import { type Answer, type Command, oneOf, table, UsageError } from './command.ts'
import { withNewServices, withServices } from './open.ts'

const plan = `one of ${PLANS.join(', ')}`

export const tenantCreate: Command = {
  name: 'tenant create',
  summary: 'Create a tenant. All data, such as API keys and jobs, belongs to a tenant.',
  options: {
    name: { type: 'string', value: 'NAME', help: 'Display name.', required: true },
    plan: {
      type: 'string',
      value: 'PLAN',
      help: `Plan: ${plan}. Default: [metering] default_plan.`,
    },
  },
  run: ({ config, options }) => {
    const plan = oneOf(PLANS, 'plan', options.plan ?? config.metering.defaultPlan)
    return withNewServices(config, async ({ tenants, actor }) => {
      const { id, name, status } = await tenants.create(actor, { name: `${options.name}`, plan })
      return { json: { id, name, plan, status }, text: `Created tenant ${name} (${plan}).\n${id}` }
    })
  },
}

export const tenantList: Command = {
  name: 'tenant list',
  summary: 'List tenants.',
  run: ({ config }) =>
    withServices(config, ({ tenants }) => {
      const list = tenants.list()
      const rows = list.map(({ id, name, plan, status }) => [id, name, plan, status])
      const text =
        rows.length === 0 ? 'No tenants yet.' : table([['ID', 'NAME', 'PLAN', 'STATUS'], ...rows])
      return { json: { tenants: list }, text }
    }),
}

export const tenantShow: Command = {
  name: 'tenant show',
  summary: 'Show a tenant.',
  positionals: ['ID'],
  run: ({ config, args }) =>
    withServices(config, ({ tenants }) => shown(tenants.find(args[0] ?? ''))),
}

export const tenantUsage: Command = {
  name: 'tenant usage',
  summary: 'Show the usage of a tenant, by day and month.',
  positionals: ['ID'],
  options: {
    month: {
      type: 'string',
      value: 'MONTH',
      help: 'Month such as 2026-01. Default: the current month.',
    },
  },
  run: ({ config, options, args }) =>
    withServices(config, async ({ usage }) => {
      const [id = ''] = args
      const month = options.month === undefined ? undefined : `${options.month}`
      if (month !== undefined && !isMonth(month))
        throw new UsageError('--month: must be a month like 2026-01')
      const { notified: _, days, ...totals } = await usage.usageOf(id, month)
      const months = usage.months(id)
      return {
        json: { ...totals, days, months },
        text: [fields(totals), daysTable(days), monthsTable(months)].filter(Boolean).join('\n\n'),
      }
    }),
}

const daysTable = (days: Usage['days']): string =>
  days.length === 0
    ? ''
    : table([
        ['DAY', 'ENGINE', 'ENVIRONMENT', 'REQUESTS'],
        ...days.map(({ day, engine, environment, requests }) => [
          day,
          engine,
          environment,
          `${requests}`,
        ]),
      ])

const monthsTable = (months: UsageOfMonth[]): string =>
  months.length === 0
    ? ''
    : table([
        ['MONTH', 'REQUESTS', 'BILLED', 'COST IN CENTS'],
        ...months.map(({ month, requests, billed_requests, cost_cents }) => [
          month,
          `${requests}`,
          `${billed_requests}`,
          `${cost_cents}`,
        ]),
      ])

export const tenantSet: Command = {
  name: 'tenant set',
  summary: 'Change the name, plan, spend cap or time zone of a tenant.',
  positionals: ['ID'],
  options: {
    name: { type: 'string', value: 'NAME', help: 'New name.' },
    plan: { type: 'string', value: 'PLAN', help: `New plan: ${plan}.` },
    'time-zone': {
      type: 'string',
      value: 'ZONE',
      help: 'Zone of the times in the console, such as Europe/Berlin.',
    },
    'spend-cap-cents': {
      type: 'string',
      value: 'CENTS',
      help: 'Monthly spend cap in cents, or none for the default cap.',
    },
  },
  run: ({ config, options, args }) => {
    const change = changeOf(options)
    if (Object.keys(change).length === 0)
      throw new UsageError(
        'tenant set: nothing to change. Use --name, --plan, --spend-cap-cents or --time-zone',
      )
    return withServices(config, async ({ tenants, actor }) =>
      shown(await tenants.change(actor, args[0] ?? '', change)),
    )
  },
}

export const tenantDelete: Command = {
  name: 'tenant delete',
  summary: 'Delete a tenant with all its data, except for the audit log.',
  positionals: ['ID'],
  options: {
    name: {
      type: 'string',
      value: 'NAME',
      help: 'Name of the tenant, to confirm.',
      required: true,
    },
  },
  run: ({ config, options, args }) =>
    withServices(config, async ({ db, clock, audit, actor }) => {
      const id = args[0] ?? ''
      const deletion = createTenantDeletion({ db, clock, audit, portable: PORTABLE })
      await deletion.begin(actor, id, `${options.name}`)
      await deletion.finish()
      return { json: { tenant: id, deleted: true }, text: `Deleted tenant ${id}.` }
    }),
}

export const tenantSuspend: Command = {
  name: 'tenant suspend',
  summary: 'Suspend a tenant for an unpaid bill or renewal.',
  positionals: ['ID'],
  options: {
    reason: {
      type: 'string',
      value: 'REASON',
      help: `Reason: ${SUSPEND_REASONS.join(' or ')}.`,
      required: true,
    },
  },
  run: ({ config, options, args }) => {
    const reason = oneOf(SUSPEND_REASONS, 'reason', options.reason)
    return withServices(config, async ({ tenants, actor }) =>
      shown(await tenants.suspend(actor, args[0] ?? '', reason)),
    )
  },
}

export const tenantResume: Command = {
  name: 'tenant resume',
  summary: 'Resume a suspended tenant.',
  positionals: ['ID'],
  run: ({ config, args }) =>
    withServices(config, async ({ tenants, actor }) =>
      shown(await tenants.resume(actor, args[0] ?? '')),
    ),
}

function changeOf(options: Record<string, unknown>): TenantChange {
  const cap = options['spend-cap-cents']
  return {
    ...(options.name !== undefined && { name: `${options.name}` }),
    ...(options.plan !== undefined && { plan: oneOf(PLANS, 'plan', `${options.plan}`) }),
    ...(options['time-zone'] !== undefined && { timeZone: `${options['time-zone']}` }),
    ...(cap !== undefined && { spendCapCents: cap === 'none' ? null : wholeCents(`${cap}`) }),
  }
}

function wholeCents(text: string): number {
  if (!/^\d{1,12}$/.test(text))
    throw new UsageError('--spend-cap-cents: must be a whole number of cents, or none')
  return Number(text)
}

const shown = (tenant: Tenant): Answer => ({ json: tenant, text: fields(tenant) })

const fields = (record: object): string =>
  table(Object.entries(record).map(([name, value]) => [name, `${value ?? '-'}`]))
