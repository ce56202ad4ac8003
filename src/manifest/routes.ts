import { Elysia, t } from 'elysia'
import type { Access } from '../http/access.ts'
import { CodedErrors, refusalsIn } from '../http/responses.ts'
import { lenient, oneOf } from '../http/schemas.ts'
import { createBuckets } from '../platform/buckets.ts'
import type { Caller } from '../platform/caller.ts'
import type { Clock } from '../platform/clock.ts'
import type { Siblings } from '../platform/siblings.ts'
import type { Manifests } from './index.ts'
import { MAX_CHANGES, PER_MINUTE } from './limits.ts'
import { Changes } from './model.ts'

const { 409: Conflict } = CodedErrors
const { badBody, refused, spent } = refusalsIn(CodedErrors)

export const Prune = t.Optional(
  oneOf(['true', 'false'], {
    description: 'Also deletes what the sections of the manifest leave out. False by default.',
  }),
)

const query = lenient({ prune: Prune })

/** The options of a request. */
export const optionsIn = ({ prune }: typeof query.static) => ({
  prune: prune === 'true',
  maxChanges: MAX_CHANGES,
})

/** The configuration of a tenant as one object. Endpoints are those of the key's environment. */
export function createRoutes(parts: {
  manifests: Manifests
  clock: Clock
  access: Access
  siblings: Siblings
}) {
  const { manifests, clock, access, siblings } = parts
  const buckets = createBuckets({
    clock,
    perMinute: PER_MINUTE,
    nameOf: (tenantId) => tenantId,
    shared: { siblings, limit: 'manifests of a tenant' },
  })

  const admit = ({ tenantId }: Caller) =>
    buckets.admit(tenantId, `more than ${PER_MINUTE} manifests a minute`)

  return new Elysia({ prefix: '/v1/manifest', tags: ['manifest'] })
    .use(access)
    .get('', ({ caller }) => manifests.export(caller), {
      scope: ['manifest:read', 'manifest:write'],
      detail: {
        summary: 'Export the configuration',
        description: 'Without defaults; secrets are masked. Applying it changes nothing.',
      },
      response: { 200: manifests.schema, ...refused },
    })
    .post(
      '/plan',
      async ({ caller, body, query }) => {
        admit(caller)
        return { changes: await manifests.plan(caller, body, optionsIn(query)) }
      },
      {
        scopeToRead: ['manifest:read', 'manifest:write'],
        detail: {
          summary: 'Plan a manifest',
          description: 'Returns the changes that applying it would make. Stores nothing.',
        },
        query,
        body: manifests.schema,
        response: { 200: Changes, ...badBody, ...refused, ...spent, 409: Conflict },
      },
    )
    .post(
      '/apply',
      async ({ caller, body, query }) => {
        admit(caller)
        return { changes: await manifests.apply(caller, body, optionsIn(query)) }
      },
      {
        scope: 'manifest:write',
        detail: {
          summary: 'Apply a manifest',
          description:
            'Makes all changes, or none. Sections that the manifest leaves out stay as they are.',
        },
        query,
        body: manifests.schema,
        response: { 200: Changes, ...badBody, ...refused, ...spent, 409: Conflict },
      },
    )
}
