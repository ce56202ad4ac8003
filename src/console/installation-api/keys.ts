import { Elysia, t } from 'elysia'
import { USUAL_GRACE_S } from '../../http/delivery-log/model.ts'
import { PageOf, pageQuery } from '../../http/paging.ts'
import { Empty } from '../../http/responses.ts'
import type { Actor } from '../../platform/audit/index.ts'
import type { Engine } from '../../platform/engines.ts'
import { AppError, invalid, renamed } from '../../platform/errors.ts'
import { type Expiry, type ApiKey as Key, stateOf } from '../../platform/keys/index.ts'
import { parseTimestamp } from '../../platform/timestamp.ts'
import { ApiKey, ChangedKey, IssuedKey, KeyRotation, NewKey } from './model.ts'
import {
  badBody,
  Conflict,
  type InstallationApiParts,
  reads,
  refused,
  Unknown,
  writes,
} from './parts.ts'

/** The API keys of a tenant. */
export function keyRoutes({ clock, keys, tenants, access }: InstallationApiParts) {
  const existing = (tenantId: string, id: string): Key => keys.find(tenants.find(tenantId).id, id)

  const shown = (tenantId: string, id: string) => present(existing(tenantId, id), clock.now())

  function page(tenantId: string, query: { cursor?: string | undefined; limit: number }) {
    const { id } = tenants.find(tenantId)
    const found = keys.page(id, { by: 'created', isDescending: true, ...query })
    return { ...found, data: found.data.map((key) => present(key, clock.now())) }
  }

  async function create(actor: Actor, tenantId: string, input: NewKey) {
    const { engines, environment, scopes, name, note } = input
    const expiry = expiryIn(input) ?? undefined
    const { id, key } = await aboutExpiry(() =>
      keys.issue(actor, { tenantId, engines, environment, scopes, name, note, expiry }),
    )
    return { ...shown(tenantId, id), key }
  }

  async function change(actor: Actor, tenantId: string, id: string, input: ChangedKey) {
    const { name, note } = input
    const expiry = expiryIn(input)
    const key = existing(tenantId, id)
    await aboutExpiry(() => keys.change(actor, key.id, { name, note, expiry }))
    return shown(tenantId, id)
  }

  async function rotate(actor: Actor, tenantId: string, id: string, input: KeyRotation | null) {
    const graceMs = (input?.grace_seconds ?? USUAL_GRACE_S) * 1000
    const issued = await keys.rotate(actor, existing(tenantId, id).id, graceMs)
    return { ...shown(tenantId, issued.id), key: issued.key }
  }

  return new Elysia({ prefix: '/tenants/:tenant_id/keys' })
    .use(access)
    .get('', ({ params, query }) => page(params.tenant_id, query), {
      scope: reads,
      detail: {
        summary: 'List the API keys of a tenant',
        description: 'Newest first, also expired and revoked ones. Without their secrets.',
      },
      query: pageQuery({}),
      response: { 200: PageOf(ApiKey), ...refused, 404: Unknown },
    })
    .post(
      '',
      async ({ caller, params, body, status }) =>
        status(201, await create(caller.actor, params.tenant_id, body)),
      {
        scope: writes,
        detail: {
          summary: 'Create an API key for a tenant',
          description: 'The secret is shown only once. Without an expiry, the key works forever.',
        },
        body: NewKey,
        response: { 201: IssuedKey, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .get('/:key_id', ({ params }) => shown(params.tenant_id, params.key_id), {
      scope: reads,
      detail: { summary: 'Get an API key of a tenant' },
      response: { 200: ApiKey, ...refused, 404: Unknown },
    })
    .patch(
      '/:key_id',
      ({ caller, params, body }) => change(caller.actor, params.tenant_id, params.key_id, body),
      {
        scope: writes,
        detail: {
          summary: 'Update an API key of a tenant',
          description: 'Changes only the given fields. `expires_at`: null removes the expiry.',
        },
        body: ChangedKey,
        response: { 200: ApiKey, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .post(
      '/:key_id/rotate',
      async ({ caller, params, body, status }) =>
        status(201, await rotate(caller.actor, params.tenant_id, params.key_id, body)),
      {
        scope: writes,
        detail: {
          summary: 'Rotate an API key of a tenant',
          description: 'Answers with the new key. The old one works during the grace period.',
        },
        body: t.Nullable(KeyRotation),
        response: { 201: IssuedKey, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .delete(
      '/:key_id',
      async ({ caller, params, status }) => {
        await keys.revoke(caller.actor, existing(params.tenant_id, params.key_id).id)
        return status(204, undefined)
      },
      {
        scope: writes,
        detail: {
          summary: 'Revoke an API key of a tenant',
          description: 'It stops working immediately, and stays in the list.',
        },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
}

const present = (key: Key, now: number) => ({
  id: key.id,
  tenant_id: key.tenant_id ?? '',
  name: key.name,
  note: key.note,
  engines: key.engines as Engine[],
  environment: key.environment,
  scopes: key.scopes,
  hint: key.hint,
  state: stateOf(key, now),
  created_at: key.created_at,
  last_used_at: key.last_used_at,
  expires_at: key.expires_at,
  lifetime_seconds: key.lifetime_ms === null ? null : Math.round(key.lifetime_ms / 1000),
  revoked_at: key.revoked_at,
  replaced_by: key.replaced_by,
})

/** Undefined if none is given, null for none. Throws `invalid` for both a lifetime and an end. */
function expiryIn({ expires_at: end, lifetime_seconds: lifetime }: ChangedKey) {
  if (end != null && lifetime != null)
    throw invalid('must not be set together with expires_at', {
      field: 'lifetime_seconds',
      rule: 'mismatch',
    })
  if (end != null) return { at: parseTimestamp(end, 'expires_at') } satisfies Expiry
  if (lifetime != null) return { afterMs: lifetime * 1000 } satisfies Expiry
  return end === null || lifetime === null ? null : undefined
}

/** Names the field as this API does. */
async function aboutExpiry<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && error.field === 'expires')
      throw renamed(error, () => 'expires_at')
    throw error
  }
}
