import { Elysia } from 'elysia'
import type { FormError } from '../../../views/console/form/error-summary.tsx'
import { IssuedKeyPage, KeyPage, KeysPage, NewKeyPage } from '../../../views/console/pages/keys.tsx'
import type { Fields } from '../../http/body.ts'
import type { Clock } from '../../platform/clock.ts'
import { ENGINES, ENVIRONMENTS, type Engine, type Environment } from '../../platform/engines.ts'
import { fail, invalid, notFound } from '../../platform/errors.ts'
import type { ApiKey, IssuedKey, Keys } from '../../platform/keys.ts'
import { submitted, typed } from '../form.ts'
import { crumbTo, type Frames } from '../frame.ts'
import type { ConsoleKit, TenantVisit } from '../kit.ts'

const HOUR_MS = 3_600_000

/** For how long an old key works on beside the new one. */
export const GRACES = { none: 0, hour: HOUR_MS, day: 24 * HOUR_MS, week: 168 * HOUR_MS } as const

/** Keys of a tenant: made, shown once, replaced with a time in which both work, revoked. */
export function keyPages(parts: {
  kit: ConsoleKit
  frames: Frames
  keys: Keys
  clock: Clock
  baseUrl: () => string
}) {
  const { kit, frames, keys, clock, baseUrl } = parts

  const existing = ({ tenant }: TenantVisit, id: string): ApiKey =>
    keys.list(tenant.tenantId).find((key) => key.id === id) ?? fail(notFound('key not found'))

  function list({ request, visitor, tenant, query }: TenantVisit & Asked): Response {
    const all = keys.list(tenant.tenantId).toReversed()
    const engine = ENGINES.find((one) => one === query.engine)
    const flash = FLASHES[query.done ?? '']
    const children = KeysPage({ base: frames.base(), keys: all, engine, now: clock.now() })
    return frames.page({ request, visitor, title: 'Keys', active: 'keys', flash, children })
  }

  function form(
    { request, visitor }: TenantVisit & Asked,
    of: { typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    return frames.page({
      request,
      visitor,
      title: 'New key',
      active: 'keys',
      above: [crumbTo(frames.base(), 'keys')],
      status: of.errors ? 422 : 200,
      children: NewKeyPage({ base: frames.base(), ...of }),
    })
  }

  async function create(visit: TenantVisit & Asked): Promise<Response> {
    const { actor, tenant, body } = visit
    const { value, errors } = await submitted(
      async () => keys.issue(actor, { tenantId: tenant.tenantId, ...wantedIn(body) }),
      { engine: 'engine', environment: 'environment', scopes: 'scopes' },
    )
    return value ? issued(visit, value) : form(visit, { typed: body, errors })
  }

  /** The answer to the form itself: nobody keeps the key, so no other page could show it. */
  const issued = ({ request, visitor }: TenantVisit & Asked, key: IssuedKey): Response =>
    frames.page({
      request,
      visitor,
      title: 'New key',
      active: 'keys',
      above: [crumbTo(frames.base(), 'keys')],
      children: IssuedKeyPage({ base: frames.base(), apiUrl: baseUrl(), key }),
    })

  function show(visit: TenantVisit & Asked): Response {
    const { request, visitor, params } = visit
    const key = existing(visit, params.id)
    return frames.page({
      request,
      visitor,
      title: key.hint,
      active: 'keys',
      above: [crumbTo(frames.base(), 'keys')],
      children: KeyPage({ base: frames.base(), key, now: clock.now() }),
    })
  }

  async function rotate(visit: TenantVisit & Asked): Promise<Response> {
    const { id } = existing(visit, visit.params.id)
    const grace = typed(visit.body, 'grace')
    if (!Object.hasOwn(GRACES, grace)) throw invalid('grace: expected none, hour, day or week')
    return issued(visit, await keys.rotate(visit.actor, id, GRACES[grace as keyof typeof GRACES]))
  }

  async function revoke(visit: TenantVisit & Asked): Promise<Response> {
    await keys.revoke(visit.actor, existing(visit, visit.params.id).id)
    return frames.go('/console/keys?done=revoked')
  }

  return new Elysia({ name: 'key pages', prefix: '/console/keys', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(asked(visit)), { right: 'keys' })
    .get('/new', (visit) => form(asked(visit)), { right: 'keys' })
    .post('', (visit) => create(asked(visit)), { right: 'keys' })
    .get('/:id', (visit) => show(asked(visit)), { right: 'keys' })
    .post('/:id/rotate', (visit) => rotate(asked(visit)), { right: 'keys' })
    .post('/:id/revoke', (visit) => revoke(asked(visit)), { right: 'keys' })
}

/** What a handler finds besides the visit. */
interface Asked {
  request: Request
  params: { id: string }
  query: Record<string, string | undefined>
  body: Fields
}

/** Routes without a parameter, a body or a query have none; the handlers need not care. */
const asked = (
  visit: TenantVisit & { request: Request; params: object; query: object; body: unknown },
): TenantVisit & Asked => ({
  ...visit,
  params: { id: '', ...visit.params },
  query: { ...visit.query },
  body: (visit.body ?? {}) as Fields,
})

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  revoked: { tone: 'good', text: 'Revoked. Requests with this key are refused from now on.' },
}

function wantedIn(body: Fields): { engine: Engine; environment?: Environment; scopes?: string[] } {
  const engine = ENGINES.find((one) => one === typed(body, 'engine'))
  if (!engine) throw invalid(`engine: choose one of ${ENGINES.join(', ')}`)
  const environment = ENVIRONMENTS.find((one) => one === typed(body, 'environment'))
  const scopes = typed(body, 'scopes')
    .split(/[\s,]+/)
    .filter(Boolean)
  return {
    engine,
    ...(engine !== 'clockwork' && environment && { environment }),
    ...(scopes.length > 0 && { scopes }),
  }
}
