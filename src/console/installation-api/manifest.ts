import { Elysia, t } from 'elysia'
import { lenient, oneOf } from '../../http/schemas.ts'
import { callerFor } from '../../manifest/caller.ts'
import { Changes } from '../../manifest/model.ts'
import { optionsIn, Prune } from '../../manifest/routes.ts'
import type { Actor } from '../../platform/audit/index.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/engines.ts'
import {
  badBody,
  Conflict,
  type InstallationApiParts,
  reads,
  refused,
  spent,
  Unknown,
  writes,
} from './parts.ts'

const environment = t.Optional(
  oneOf(ENVIRONMENTS, { description: 'Of the webhook endpoints. Live by default.' }),
)
const query = lenient({ prune: Prune, environment })

/** The configuration of a tenant as one object, as a key of the tenant would see and change it. */
export function manifestRoutes({ tenants, manifests, access }: InstallationApiParts) {
  const callerIn = (actor: Actor, tenantId: string, { environment = 'live' }: ByEnvironment) =>
    callerFor(tenants.find(tenantId), { actor, environment })

  return new Elysia({ prefix: '/tenants/:tenant_id/manifest' })
    .use(access)
    .get(
      '',
      ({ caller, params, query }) =>
        manifests.export(callerIn(caller.actor, params.tenant_id, query)),
      {
        scope: reads,
        detail: {
          summary: 'Export the configuration of a tenant',
          description: 'Without defaults; secrets are masked. Applying it changes nothing.',
        },
        query: lenient({ environment }),
        response: { 200: manifests.schema, ...refused, 404: Unknown },
      },
    )
    .post(
      '/plan',
      async ({ caller, params, query, body }) => ({
        changes: await manifests.plan(
          callerIn(caller.actor, params.tenant_id, query),
          body,
          optionsIn(query),
        ),
      }),
      {
        scopeToRead: reads,
        detail: {
          summary: 'Plan a manifest for a tenant',
          description: 'Returns the changes that applying it would make. Stores nothing.',
        },
        query,
        body: manifests.schema,
        response: {
          ...{ 200: Changes, ...badBody, ...refused, ...spent },
          ...{ 404: Unknown, 409: Conflict },
        },
      },
    )
    .post(
      '/apply',
      async ({ caller, params, query, body }) => ({
        changes: await manifests.apply(
          callerIn(caller.actor, params.tenant_id, query),
          body,
          optionsIn(query),
        ),
      }),
      {
        scope: writes,
        detail: {
          summary: 'Apply a manifest to a tenant',
          description:
            'Makes all changes, or none. Sections that the manifest leaves out stay as they are.',
        },
        query,
        body: manifests.schema,
        response: {
          ...{ 200: Changes, ...badBody, ...refused, ...spent },
          ...{ 404: Unknown, 409: Conflict },
        },
      },
    )
}

interface ByEnvironment {
  environment?: Environment
}
