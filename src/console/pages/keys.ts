import { Elysia } from 'elysia'
import type { FormError } from '../../../views/console/form/error-summary.tsx'
import { checkedValues } from '../../../views/console/form/values.ts'
import { type ListPosition, pagerLinks, positionIn } from '../../../views/console/list-position.ts'
import { IssuedKeyPage } from '../../../views/console/pages/issued-key.tsx'
import { KeyPage } from '../../../views/console/pages/key.tsx'
import { KeysPage } from '../../../views/console/pages/keys.tsx'
import { NewKeyPage, scopesField } from '../../../views/console/pages/new-key.tsx'
import { url } from '../../../views/console/url.ts'
import type { Fields } from '../../http/body.ts'
import type { Clock } from '../../platform/clock.ts'
import { createCursor } from '../../platform/cursor.ts'
import { DAY_MS, HOUR_MS, WEEK_MS } from '../../platform/durations.ts'
import { ENGINE_SCOPES, ENGINES, ENVIRONMENTS, type Engine } from '../../platform/engines.ts'
import { invalid } from '../../platform/errors.ts'
import type { ApiKey, FoundKey, IssuedKey, Keys, NewKey } from '../../platform/keys.ts'
import { flashOf } from '../flash.ts'
import { submitted, trimmedText } from '../form.ts'
import { crumbTo, type Layout } from '../layout.ts'
import type { ConsoleMiddleware, TenantContext } from '../middleware.ts'

/** How long an old key works after a rotation. */
export const GRACES = { none: 0, hour: HOUR_MS, day: DAY_MS, week: WEEK_MS } as const

const PATH = '/console/keys'
const ROWS = 50
/** Most keys that one page counts and filters. */
const MAX_SCANNED = 500

/** API keys of a tenant: creation, rotation with a grace period, revocation. */
export function keyPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  keys: Keys
  clock: Clock
  baseUrl: () => string
}) {
  const { middleware, layout, keys, clock, baseUrl } = parts
  const cursor = createCursor('console keys', ['number', 'string'])
  const cursorOf = ({ created_at: at, id }: ApiKey) => cursor.encode([Date.parse(at), id])

  function list({ request, operator, tenant: { tenantId } }: Context): Response {
    const params = new URL(request.url).searchParams
    const position = positionIn(params)
    const engine = engineIn(params)
    const before = cursor.positionOf(position.cursor)
    const newest = keys.newest(tenantId, MAX_SCANNED)
    const scanned = before
      ? keys.newest(tenantId, MAX_SCANNED, { createdAt: before[0], id: before[1] })
      : newest
    const shown = engine ? scanned.filter((key) => key.engine === engine) : scanned
    const rows = shown.slice(0, ROWS)
    const last = shown.length > ROWS ? rows.at(-1) : scanned[MAX_SCANNED - 1]
    const hrefOf = (at: ListPosition) => url(layout.base(), PATH, { engine, ...at })
    const children = KeysPage({
      base: layout.base(),
      rows,
      newest,
      hasMore: newest.length === MAX_SCANNED,
      engine,
      changedId: params.get('changed') ?? undefined,
      pages: pagerLinks(position, last && cursorOf(last), hrefOf),
      now: clock.now(),
    })
    const flash = flashOf(FLASHES, params.get('done'))
    return layout.page({ request, operator, title: 'API keys', active: 'keys', flash, children })
  }

  function form(
    { request, operator }: Context,
    of: { values?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    const engine = engineIn(new URL(request.url).searchParams) ?? 'clockwork'
    return layout.page({
      request,
      operator,
      title: 'New API key',
      active: 'keys',
      above: [crumbTo(layout.base(), 'keys')],
      status: of.errors ? 422 : 200,
      children: NewKeyPage({ base: layout.base(), engine, ...of }),
    })
  }

  async function create(context: Context, body: Fields): Promise<Response> {
    const { actor, tenant } = context
    const { value, errors } = await submitted(
      async () => keys.issue(actor, { tenantId: tenant.tenantId, ...wantedIn(body) }),
      {
        engine: 'engine',
        environment: 'environment',
        scopes:
          ownScopesIn(body).length > 0 ? 'own_scopes' : `${trimmedText(body, 'engine')}_scopes`,
      },
    )
    return value ? issued(context, value) : form(context, { values: body, errors })
  }

  /** Shows the key in the response to the form, because it is not stored. */
  const issued = (
    { request, operator }: Context,
    key: IssuedKey,
    replaced?: { hint: string; endsAt: number },
  ): Response =>
    layout.page({
      request,
      operator,
      title: 'New API key',
      active: 'keys',
      above: [crumbTo(layout.base(), 'keys')],
      children: IssuedKeyPage({
        base: layout.base(),
        apiUrl: baseUrl(),
        key,
        replaced,
        now: clock.now(),
      }),
    })

  function show({ request, operator, tenant: { tenantId } }: Context, id: string): Response {
    const key = keys.find(tenantId, id)
    return layout.page({
      request,
      operator,
      title: key.hint,
      active: 'keys',
      above: [crumbTo(layout.base(), 'keys')],
      children: KeyPage({
        base: layout.base(),
        key,
        replacement: replacementOf(tenantId, key),
        now: clock.now(),
      }),
    })
  }

  const replacementOf = (tenantId: string, { replaced_by: id }: FoundKey): FoundKey | undefined =>
    id === null ? undefined : keys.find(tenantId, id)

  async function rotate(context: Context, id: string, body: Fields): Promise<Response> {
    const { hint } = keys.find(context.tenant.tenantId, id)
    const grace = trimmedText(body, 'grace')
    if (!Object.hasOwn(GRACES, grace))
      throw invalid('must be none, hour, day or week', { field: 'grace', rule: 'choice' })
    const graceMs = GRACES[grace as keyof typeof GRACES]
    const key = await keys.rotate(context.actor, id, graceMs)
    return issued(context, key, { hint, endsAt: clock.now() + graceMs })
  }

  async function revoke({ actor, tenant }: Context, id: string): Promise<Response> {
    await keys.revoke(actor, keys.find(tenant.tenantId, id).id)
    return layout.go(url('', PATH, { done: 'revoked', changed: id }))
  }

  return new Elysia({ name: 'key pages', prefix: PATH, detail: { hide: true } })
    .use(middleware)
    .get('', (context) => list(context), { right: 'keys' })
    .get('/new', (context) => form(context), { right: 'keys' })
    .post('', ({ body, ...context }) => create(context, body as Fields), { right: 'keys' })
    .get('/:id', ({ params, ...context }) => show(context, params.id), { right: 'keys' })
    .post(
      '/:id/rotate',
      ({ params, body, ...context }) => rotate(context, params.id, body as Fields),
      { right: 'keys' },
    )
    .post('/:id/revoke', ({ params, ...context }) => revoke(context, params.id), { right: 'keys' })
}

type Context = TenantContext & { request: Request }

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  revoked: { tone: 'good', text: 'API key revoked.' },
}

const engineIn = (search: URLSearchParams): Engine | undefined =>
  ENGINES.find((one) => one === search.get('engine'))

const ownScopesIn = (body: Fields): string[] =>
  trimmedText(body, 'own_scopes')
    .split(/[\s,]+/)
    .filter(Boolean)

function wantedIn(body: Fields): Omit<NewKey, 'tenantId'> {
  const engine = ENGINES.find((one) => one === trimmedText(body, 'engine'))
  if (!engine)
    throw invalid(`must be one of ${ENGINES.join(', ')}`, { field: 'engine', rule: 'choice' })
  const environment = ENVIRONMENTS.find((one) => one === trimmedText(body, 'environment'))
  const known: readonly string[] = ENGINE_SCOPES[engine]
  // An engine with a single scope has no checkboxes.
  const chosen =
    known.length === 1
      ? known
      : checkedValues(body, scopesField(engine)).filter((scope) => known.includes(scope))
  const scopes = [...chosen, ...ownScopesIn(body)]
  if (scopes.length === 0)
    throw invalid('must name at least one scope', { field: 'scopes', rule: 'required' })
  return { engine, scopes, ...(engine !== 'clockwork' && environment && { environment }) }
}
