import { Elysia, t } from 'elysia'
import { PageOf, pageQuery } from '../../http/paging.ts'
import { Empty } from '../../http/responses.ts'
import { oneOf } from '../../http/schemas.ts'
import type { Actor } from '../../platform/audit/index.ts'
import { AppError } from '../../platform/errors.ts'
import type { TenantChange } from '../../platform/tenants.ts'
import { ChangedTenant, Deleting, NewTenant, STATUSES, Suspension, Tenant, Usage } from './model.ts'
import {
  badBody,
  Conflict,
  type InstallationApiParts,
  reads,
  refused,
  Unknown,
  writes,
} from './parts.ts'

const TenantName = t.Optional(
  t.String({ description: 'Required: the name of the tenant, to confirm.', examples: ['Acme'] }),
)
const Month = t.Optional(
  t.String({
    pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$',
    expected: 'a month like 2026-01',
    description: 'Default: the current month.',
    examples: ['2026-01'],
  }),
)

/** Tenants of the installation. */
export function tenantRoutes(parts: InstallationApiParts) {
  const { tenants, tenantDeletion, metering, defaultPlan, access } = parts

  const create = (actor: Actor, { name, plan, ...more }: NewTenant) =>
    tenants.create(actor, {
      name,
      plan: plan ?? defaultPlan,
      ...(more.time_zone !== undefined && { timeZone: more.time_zone }),
      ...(more.spend_cap_cents !== undefined && { spendCapCents: more.spend_cap_cents }),
    })

  async function usageOf(id: string, month: string | undefined) {
    const { notified: _, ...usage } = await metering.usageOf(tenants.find(id).id, month)
    return usage
  }

  return new Elysia({ prefix: '/tenants' })
    .use(access)
    .get('', ({ query }) => tenants.page({ ...query, search: query.search || undefined }), {
      scope: reads,
      detail: {
        summary: 'List tenants',
        description: 'Newest first; sorted by name with `search`.',
      },
      query: pageQuery({
        search: t.Optional(t.String({ description: 'The beginning of a name, or an ID.' })),
        status: t.Optional(oneOf(STATUSES)),
      }),
      response: { 200: PageOf(Tenant), ...refused },
    })
    .post('', async ({ caller, body, status }) => status(201, await create(caller.actor, body)), {
      scope: writes,
      detail: {
        summary: 'Create a tenant',
        description: 'Names need not be unique, so search for the name first.',
      },
      body: NewTenant,
      response: { 201: Tenant, ...badBody, ...refused },
    })
    .get('/:tenant_id', ({ params }) => tenants.find(params.tenant_id), {
      scope: reads,
      detail: { summary: 'Get a tenant' },
      response: { 200: Tenant, ...refused, 404: Unknown },
    })
    .patch(
      '/:tenant_id',
      ({ caller, params, body }) => tenants.change(caller.actor, params.tenant_id, changeIn(body)),
      {
        scope: writes,
        detail: {
          summary: 'Update a tenant',
          description:
            'Changes only the given fields. `spend_cap_cents`: null restores the default cap.',
        },
        body: ChangedTenant,
        response: { 200: Tenant, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .delete(
      '/:tenant_id',
      async ({ caller, params, query, status }) => {
        const id = params.tenant_id
        const isGone = await confirmed(() =>
          tenantDeletion.begin(caller.actor, id, query.name ?? ''),
        )
        return isGone ? status(204, undefined) : status(202, { id, deleting: true as const })
      },
      {
        scope: writes,
        detail: {
          summary: 'Delete a tenant',
          description:
            "Deletes all its data, except for the audit log. This can't be undone. Its keys, sessions and jobs end immediately.",
        },
        query: t.Object({ name: TenantName }, { additionalProperties: true }),
        response: { 202: Deleting, 204: Empty, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .post(
      '/:tenant_id/suspend',
      ({ caller, params, body }) => tenants.suspend(caller.actor, params.tenant_id, body.reason),
      {
        scope: writes,
        detail: {
          summary: 'Suspend a tenant',
          description: 'For an unpaid bill or renewal. It can create nothing until it is resumed.',
        },
        body: Suspension,
        response: { 200: Tenant, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .post(
      '/:tenant_id/resume',
      ({ caller, params }) => tenants.resume(caller.actor, params.tenant_id),
      {
        scope: writes,
        detail: { summary: 'Resume a suspended tenant' },
        response: { 200: Tenant, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .get('/:tenant_id/usage', ({ params, query }) => usageOf(params.tenant_id, query.month), {
      scope: reads,
      detail: { summary: 'Get the usage of a tenant', description: 'By day, for one month (UTC).' },
      query: t.Object({ month: Month }, { additionalProperties: true }),
      response: { 200: Usage, ...refused, 404: Unknown },
    })
}

const changeIn = (body: ChangedTenant): TenantChange => ({
  ...(body.name !== undefined && { name: body.name }),
  ...(body.plan !== undefined && { plan: body.plan }),
  ...(body.time_zone !== undefined && { timeZone: body.time_zone }),
  ...(body.spend_cap_cents !== undefined && { spendCapCents: body.spend_cap_cents }),
})

/** The name that confirms a deletion is in the query. */
async function confirmed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && error.field === 'name')
      throw new AppError(error.kind, error.fieldErrors, { code: 'invalid_request' })
    throw error
  }
}
