import { type AnyElysia, Elysia } from 'elysia'
import type { ComponentChildren, VNode } from 'preact'
import { LiveSource } from '../../views/layout/live.tsx'
import type { Crumb } from '../../views/layout/model.ts'
import { PAGES, type PageKey } from '../../views/layout/navigation.ts'
import type { Flash } from '../../views/layout/toast.tsx'
import { HereContext, type Submission } from '../../views/ui/here.tsx'
import { positionIn } from '../../views/ui/pager.tsx'
import { url } from '../../views/ui/url.ts'
import type { Fields } from '../http/body.ts'
import type { Clock } from '../platform/clock.ts'
import type { ErrorKind } from '../platform/errors.ts'
import { UTC } from '../platform/time-zone.ts'
import { type Addresses, type Place, placeOf, routeOf } from './addresses.ts'
import { CORRECTABLE, type FormFields, submitted } from './form.ts'
import { type Part, stateIdOf } from './live/part.ts'
import type { TenantContext } from './middleware.ts'
import { type Access, may } from './operators/rights.ts'
import type { Action, LivePart, Outcome, Page, PageContext } from './page.tsx'
import type { Services } from './services.ts'

/** The routes of all pages. Rights are checked here, before a form is read. */
export function createPages(
  services: Services,
  { addressAt }: Addresses,
  pages: readonly Page[],
): AnyElysia {
  const { layout, middleware, clock, callerOf, liveAnswers, operators, tenants, deviceOf } =
    services
  const flashes = flashesByKey(pages)

  function contextOf(spec: Page, routed: Routed): PageContext {
    const { request, tenant, actor, params = {} } = routed
    const operator = routed.operator ?? operators.currentOperator.ifAny(request)
    const { searchParams } = new URL(request.url)
    const place = placeOf(spec, request, { params, operator })
    return {
      ...services,
      request,
      operator,
      tenant,
      actor,
      tenantId: tenant?.tenantId,
      params,
      place,
      query: Object.fromEntries([...searchParams].map(([name, value]) => [name, value.trim()])),
      position: positionIn(searchParams),
      fields: routed.body ?? {},
      now: clock.now(),
      zone: zoneOf(place),
      ...(spec.right === 'anyone' && { device: deviceOf(request) }),
      environment: place.environment,
      may: (right) => tenant !== undefined && may(tenant.role, right),
      caller: (engine, environment = undefined) => callerOf(routed, engine, environment ?? null),
      href: (path, query) => layout.base() + addressAt(place, path, query),
      hrefIn: (environment, path, query) =>
        layout.base() + addressAt({ ...place, environment }, path, query),
      rarely: (read) => read(),
    }
  }

  /** Times of the installation are in UTC. */
  const zoneOf = ({ area, tenantId }: Place): string =>
    area === 'installation' || tenantId === undefined ? UTC : tenants.timeZoneOf(tenantId)

  async function show(spec: Page, context: PageContext, of: Shown = {}): Promise<Response> {
    const { submission, result } = of
    const data = await spec.load({ ...context, submission, result })
    const live = spec.live?.(data)
    return render(spec, context, {
      status: spec.status?.(data),
      ...of,
      title: typeof spec.title === 'string' ? spec.title : spec.title(data),
      above: spec.above?.(data, context) ?? [],
      node: <spec.view {...data} />,
      liveSource: live && <LiveSource {...sourceOf(spec, context, live)} />,
    })
  }

  /** The stream of a page's live parts, from the state that the page shows. */
  function sourceOf(spec: Page, context: PageContext, live: Record<string, LivePart>) {
    const shownId = stateIdOf(partsOf(spec, context, live))
    return {
      shownId,
      href: url(hrefOf(spec, context), UPDATES, { ...context.query, shown: shownId }),
    }
  }

  /** Address of the page itself, without the base path. */
  const pathAt = (spec: Page, { place, params }: PageContext) =>
    spec.isOutside ? pathOf(spec, params) : addressAt(place, pathOf(spec, params))

  /** Address of the page itself. */
  const hrefOf = (spec: Page, context: PageContext) => layout.base() + pathAt(spec, context)

  const partsOf = (spec: Page, context: PageContext, live: Record<string, LivePart>): Part[] =>
    Object.entries(live).map(([target, { facts, view }]) => ({
      target,
      facts,
      draw: () => within(spec, context, view),
    }))

  function stream(spec: Page, context: PageContext): Response {
    const { request, tenant } = context
    const { pathname, searchParams } = new URL(request.url)
    searchParams.delete('shown')
    const name = `${tenant.role} ${pathname}?${searchParams}`
    const rarely = createRarely(clock)
    const render = () => {
      const now = { ...context, now: clock.now(), rarely }
      return partsOf(spec, now, spec.live?.(spec.load(now)) ?? {})
    }
    return liveAnswers(context, { name, render })
  }

  /** A part of a page, which can use the page's context. */
  const within = (spec: Page, context: PageContext, node: ComponentChildren) => {
    const actionHref = (action: string) => pathIn(hrefOf(spec, context), action)
    return <HereContext.Provider value={{ ...context, actionHref }}>{node}</HereContext.Provider>
  }

  function render(
    spec: Page,
    context: PageContext,
    { title, above = [], node, submission, liveSource, flash, status }: Rendered,
  ): Response {
    const { section, hasEnvironments } = spec
    const children = within(
      spec,
      { ...context, submission, liveSource },
      spec.isPlain ? node : [liveSource, node],
    )
    if (spec.isPlain) return layout.html(children, status)
    const list = section && spec.path.includes(':') ? PAGES[section].path : spec.path
    const isBelow = section && spec.path !== PAGES[section].path
    const { request, operator, tenant, place, href, zone } = context
    return layout.page({
      ...{ request, operator, tenant, place, href, zone },
      title,
      active: section,
      hasEnvironments,
      hrefIn: (environment) => context.hrefIn(environment, list),
      creations: creationsFor(context),
      here: request.method === 'GET' ? undefined : pathAt(spec, context),
      above: isBelow ? [crumbTo(section, context), ...above] : [],
      flash: flash ?? flashIn(context.query),
      status,
      children,
    })
  }

  /** The message that an action led to, with the number of objects that it changed. */
  function flashIn({ done = '', count = '' }: PageContext['query']): Flash | undefined {
    const flash = flashes.get(done)
    return flash && { ...flash, text: flash.text.replace('{count}', count.replace(/\D.*/, '')) }
  }

  const creations = pages.flatMap(({ path, right, title }) =>
    /\/(new|invite)$/.test(path) && typeof title === 'string' ? [{ path, right, title }] : [],
  )

  /** Pages that create something, in the tenant or the installation of a page. */
  const creationsFor = ({ tenant, operator, place, href }: PageContext) =>
    creations
      .filter(({ right }) =>
        right === 'admin'
          ? place.area === 'installation' && operator.isAdmin
          : tenant !== undefined && may(tenant.role, right),
      )
      .map(({ title, path }) => ({ label: title, href: href(path) }))

  async function act(spec: Page, name: string, context: PageContext): Promise<Response> {
    const action = spec.actions?.[name] as Action<string>
    const { value, errors } = await submitted(
      async () => action.run(context),
      formOf(action, context),
      kindsShownBy(spec, action),
    )
    if (errors && !action.form) {
      const flash: Flash = { tone: 'bad', text: errors[0]?.message ?? '' }
      return show(spec, context, { flash, status: 409 })
    }
    const submission = { action: name, values: context.fields, errors: errors ?? [] }
    if (errors) return show(spec, context, { submission, status: 422 })
    const { to, query, away, cookies, flash, shown, file, again, result, ...of } =
      value ?? ({} as Outcome)
    if (file) return file
    if (away) return layout.leave(context.request, away)
    if (again)
      return show(spec, context, {
        submission: { ...submission, values: of.values ?? submission.values },
        result,
        flash: of.report,
      })
    if (shown) return render(spec, context, { title: shown.title, node: shown.page })
    const done = [keyOf(spec, name), flash].filter(Boolean).join('.')
    const target = to ?? pathOf(spec, context.params)
    const message = flashes.has(done) ? { done } : {}
    // Before the sign-in, the action itself may have selected a tenant: the short address leads there.
    const isElsewhere = of.isTenantGone || spec.right === 'anyone'
    const place = isElsewhere ? { ...context.place, ...NOWHERE } : context.place
    return layout.go(addressAt(place, target, { ...message, ...query }), cookies)
  }

  const routes: AnyElysia = new Elysia({ name: 'pages', detail: { hide: true } }).use(middleware)
  for (const spec of pages) {
    const route = routeOf(spec)
    routes.get(
      route,
      ({ request, params, operator, tenant, actor }) =>
        show(spec, contextOf(spec, { request, params, operator, tenant, actor })),
      macroOf(spec.right),
    )
    if (spec.live)
      routes.get(
        route + UPDATES,
        ({ request, params, operator, tenant, actor }) =>
          stream(spec, contextOf(spec, { request, params, operator, tenant, actor })),
        macroOf(spec.right),
      )
    for (const [name, file] of Object.entries(spec.files ?? {}))
      routes.get(
        pathIn(route, name),
        ({ request, params, operator, tenant, actor }) =>
          file(contextOf(spec, { request, params, operator, tenant, actor })),
        macroOf(spec.right),
      )
    for (const [name, { right }] of Object.entries<Action<string>>(spec.actions ?? {}))
      routes.post(
        pathIn(route, name),
        ({ request, params, body, operator, tenant, actor }) =>
          act(spec, name, contextOf(spec, { request, params, body, operator, tenant, actor })),
        macroOf(right),
      )
  }
  return routes
}

/** Path of the stream of a page's updates, below the page. */
const UPDATES = '/updates'

type Routed = TenantContext & { request: Request; params?: Record<string, string>; body?: Fields }

const NOWHERE = { area: 'operator', tenantId: undefined } as const

/** Errors that the page itself shows. A plain page has no place for messages. */
const kindsShownBy = ({ isPlain }: Page, { form }: Action<string>): ReadonlySet<ErrorKind> =>
  form ? CORRECTABLE : isPlain ? NONE : CONFLICT

const NONE: ReadonlySet<ErrorKind> = new Set()

/** Errors that an action without a form can run into. Any other means a request that no page sends. */
const CONFLICT: ReadonlySet<ErrorKind> = new Set(['conflict'])

const formOf = ({ form }: Action<string>, context: PageContext): FormFields | undefined =>
  typeof form === 'function' ? form(context) : form

/** A new object each time, because Elysia takes macros out of the options that it is given. */
function macroOf(access: Access): Record<string, string | true> {
  if (access === 'anyone') return { anonymous: true }
  return access === 'admin' || access === 'operator' ? { [access]: true } : { right: access }
}

interface Shown {
  result?: unknown
  submission?: Submission
  flash?: Flash | undefined
  status?: number
}

interface Rendered extends Shown {
  title: string
  above?: readonly Crumb[]
  node: VNode
  liveSource?: VNode | undefined
}

const pathIn = (path: string, action: string): string =>
  action === '' ? path : `${path}/${action}`

const pathOf = (spec: Page, params: Record<string, string>, action = ''): string =>
  pathIn(
    spec.path.replaceAll(/:(\w+)/g, (_: string, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    ),
    action,
  )

const crumbTo = (page: PageKey, { href }: PageContext): Crumb => ({
  label: PAGES[page].label,
  href: href(PAGES[page].path),
})

/** Remembers a result for 5 seconds, for a stream of updates. */
function createRarely(clock: Pick<Clock, 'monotonic'>): PageContext['rarely'] {
  let known: { value: unknown; at: number } | undefined
  return <T,>(read: () => T) => {
    if (!known || clock.monotonic() - known.at >= RARELY_MS)
      known = { value: read(), at: clock.monotonic() }
    return known.value as T
  }
}

const RARELY_MS = 5000

/** Name of an action in addresses: `jobs-pause` for `/jobs/:id/pause`. */
const keyOf = ({ path }: Page, action: string): string =>
  pathIn(path, action)
    .split('/')
    .filter((step) => step !== '' && !step.startsWith(':'))
    .join('-')

/** Throws if two actions have one key but other messages, because one would show that of the other. */
function flashesByKey(pages: readonly Page[]): ReadonlyMap<string, Flash> {
  const flashes = new Map<string, Flash>()
  for (const [key, flash] of pages.flatMap(flashesOf)) {
    if ((flashes.get(key)?.text ?? flash.text) !== flash.text)
      throw new Error(`two actions of pages are named ${key}`)
    flashes.set(key, flash)
  }
  return flashes
}

function flashesOf(spec: Page): [string, Flash][] {
  const actions = Object.entries<Action<string>>(spec.actions ?? {})
  return [
    ...named(keyOf(spec, ''), spec.messages ?? {}),
    ...actions.flatMap(([name, { flash = {} }]): [string, Flash][] =>
      isFlash(flash) ? [[keyOf(spec, name), flash]] : named(keyOf(spec, name), flash),
    ),
  ]
}

const named = (key: string, flashes: Readonly<Record<string, Flash>>) =>
  Object.entries(flashes).map(([name, flash]): [string, Flash] => [`${key}.${name}`, flash])

const isFlash = (flash: object): flash is Flash => 'tone' in flash
