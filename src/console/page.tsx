import { type AnyElysia, Elysia } from 'elysia'
import type { FunctionComponent, VNode } from 'preact'
import { type Here, HereContext, type Submission, useHere } from '../../views/console/here.tsx'
import type { Crumb } from '../../views/console/layout/model.ts'
import { PAGES, type PageKey } from '../../views/console/layout/navigation.ts'
import { type ListPosition, positionIn } from '../../views/console/list-position.ts'
import type { Flash } from '../../views/console/toast.tsx'
import { type Query, url } from '../../views/console/url.ts'
import type { Fields } from '../http/body.ts'
import type { Caller } from '../platform/caller.ts'
import type { Engine, Environment } from '../platform/engines.ts'
import type { ErrorKind } from '../platform/errors.ts'
import { CORRECTABLE, type FormFields, submitted } from './form.ts'
import { crumbTo } from './layout.ts'
import type { OperatorContext, TenantContext } from './middleware.ts'
import { may, type Right } from './operators/rights.ts'
import { environmentOf } from './scope.ts'
import type { Services } from './services.ts'

/** Names of the parameters in a path: `id` and `part` in `/users/:id/sessions/:part`. */
type ParamIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** A request to a page, with everything that the page reads or changes. */
export interface OperatorPageContext<Path extends string = string>
  extends OperatorContext,
    Services {
  request: Request
  params: Record<ParamIn<Path>, string>
  /** Parameters of the query string, trimmed. */
  query: Record<string, string | undefined>
  /** Position in the list. */
  position: ListPosition
  /** Fields of the submitted form. */
  fields: Fields
  now: number
  /** Address of a page of the same tenant and environment. */
  href: (path: string, query?: Query) => string
  submission?: Submission | undefined
}

/** A request to a page of a tenant. */
export interface PageContext<Path extends string = string> extends OperatorPageContext<Path> {
  environment: Environment
  tenant: TenantContext['tenant']
  tenantId: string
  may: (right: Right) => boolean
  caller: (engine: Engine, environment?: Environment) => Caller
}

/** Who may open a page: members of the tenant with a right, admins of the installation, or all operators. */
type Access = Right | 'admin' | 'operator'

type ContextOf<Path extends string, For extends Access> = For extends Right
  ? PageContext<Path>
  : OperatorPageContext<Path>

/** What follows an action: by default, the page of the action with its message. */
interface Outcome {
  /** Path of another page to show, with its query. */
  to?: string
  query?: Query
  /** Address of a page outside the console. */
  away?: string
  /** Name of the message, for an action with several. */
  flash?: string
  /** A page in response to the form, for secrets that are not stored. */
  shown?: { title: string; page: VNode }
  /** The form again, such as with a preview. */
  again?: true
}

interface Action<Path extends string, For extends Access = Right> {
  right: Access
  flash?: Flash | Readonly<Record<string, Flash>>
  /** The fields of its form, by API field. Without them, an error is shown as a message. */
  form?: FormFields | ((context: ContextOf<Path, For>) => FormFields)
  run: (context: ContextOf<Path, For>) => unknown
}

interface PageSpec<Path extends string, For extends Access, Data, Names extends string> {
  /** Below the tenant, such as `/jobs/:id`. */
  path: Path
  /** Its entry in the sidebar. */
  section: PageKey
  /** Shows data of one environment, with a switch between live and test. */
  hasEnvironments?: true
  /** Who may open the page. */
  right: For
  title: string | ((data: Data) => string)
  /** Pages between its section and this page. */
  above?: (data: Data, context: ContextOf<Path, For>) => readonly Crumb[]
  load: (context: ContextOf<Path, For>) => Data | Promise<Data>
  /** 200 unless given, or unless a form was refused. */
  status?: (data: Data) => number
  view: FunctionComponent<Data>
  /** Forms of the page, by the rest of their address: `pause`, or '' for the address of the page. */
  actions?: { readonly [Name in Names]: Action<`${Path}/${Name}`, For> }
  /** Downloads, by the rest of their address. The page's right opens them. */
  files?: Readonly<Record<string, (context: ContextOf<Path, For>) => Response>>
}

// biome-ignore lint/suspicious/noExplicitAny: pages of all kinds of data are in one list
export type Page = PageSpec<any, any, any, any>

/** Declares a page. It exists once it is in the list of pages. */
export const page = <
  const Path extends string,
  const For extends Access,
  Data extends object,
  const Names extends string,
>(
  spec: PageSpec<Path, For, Data, Names>,
): Page => spec

/** The request that the current page is rendered for. */
export const usePage = () => useHere() as PageContext & Here

/** An outcome: a page in response to the form. */
export const shown = (title: string, page: VNode) => ({ shown: { title, page } })

export const good = (text: string): Flash => ({ tone: 'good', text })
export const warn = (text: string): Flash => ({ tone: 'warn', text })

const CONSOLE = '/console'

/** The routes of all pages. Rights are checked here, before a form is read. */
export function createPages(services: Services, pages: readonly Page[]): AnyElysia {
  const { layout, middleware, clock, callerOf } = services
  const flashes = new Map(pages.flatMap(flashesOf))
  const href = (path: string, query?: Query) => url(layout.base(), CONSOLE + path, query)

  function contextOf(routed: Routed): PageContext {
    const { request, operator, tenant, actor } = routed
    const { searchParams } = new URL(request.url)
    return {
      ...services,
      request,
      operator,
      tenant,
      actor,
      tenantId: tenant?.tenantId,
      params: routed.params ?? {},
      query: Object.fromEntries([...searchParams].map(([name, value]) => [name, value.trim()])),
      position: positionIn(searchParams),
      fields: routed.body ?? {},
      now: clock.now(),
      environment: environmentOf(request),
      may: (right) => tenant !== undefined && may(tenant.role, right),
      caller: (engine, environment = undefined) => callerOf(routed, engine, environment ?? null),
      href,
    }
  }

  async function show(spec: Page, context: PageContext, of: Shown = {}): Promise<Response> {
    const data = await spec.load({ ...context, submission: of.submission })
    const title = typeof spec.title === 'string' ? spec.title : spec.title(data)
    return render(spec, context, {
      status: spec.status?.(data),
      ...of,
      title,
      above: spec.above?.(data, context) ?? [],
      node: <spec.view {...data} />,
    })
  }

  function render(
    spec: Page,
    context: PageContext,
    { title, above = [], node, submission, flash, status }: Rendered,
  ): Response {
    const { request, operator, params } = context
    const here = {
      ...context,
      submission,
      actionHref: (action: string) => href(pathOf(spec, params, action)),
    }
    const isSection = CONSOLE + spec.path === PAGES[spec.section].path
    return layout.page({
      request,
      operator,
      title,
      active: spec.section,
      hasEnvironments: spec.hasEnvironments,
      above: isSection ? [] : [crumbTo(layout.base(), spec.section), ...above],
      flash: flash ?? flashes.get(context.query.done ?? ''),
      status,
      children: <HereContext.Provider value={here}>{node}</HereContext.Provider>,
    })
  }

  async function act(spec: Page, name: string, context: PageContext): Promise<Response> {
    const action = spec.actions?.[name] as Action<string>
    const { value, errors } = await submitted(
      async () => action.run(context),
      formOf(action, context),
      action.form ? CORRECTABLE : CONFLICT,
    )
    if (errors && !action.form) {
      const flash: Flash = { tone: 'bad', text: errors[0]?.message ?? '' }
      return show(spec, context, { flash, status: 409 })
    }
    const submission = { action: name, values: context.fields, errors: errors ?? [] }
    if (errors) return show(spec, context, { submission, status: 422 })
    const { to, query, away, flash, shown, again } = (value ?? {}) as Outcome
    if (away) return new Response(null, { status: 303, headers: { location: away } })
    if (again) return show(spec, context, { submission })
    if (shown) return render(spec, context, { title: shown.title, node: shown.page })
    const done = [keyOf(spec, name), flash].filter(Boolean).join('.')
    const target = to ?? pathOf(spec, context.params)
    const message = flashes.has(done) ? { done } : {}
    return layout.go(url('', CONSOLE + target, { ...query, ...message }))
  }

  const routes: AnyElysia = new Elysia({ name: 'pages', detail: { hide: true } }).use(middleware)
  for (const spec of pages) {
    routes.get(
      CONSOLE + spec.path,
      ({ request, params, operator, tenant, actor }) =>
        show(spec, contextOf({ request, params, operator, tenant, actor })),
      macroOf(spec.right),
    )
    for (const [name, file] of Object.entries(spec.files ?? {}))
      routes.get(
        pathIn(CONSOLE + spec.path, name),
        ({ request, params, operator, tenant, actor }) =>
          file(contextOf({ request, params, operator, tenant, actor })),
        macroOf(spec.right),
      )
    for (const [name, { right }] of Object.entries<Action<string>>(spec.actions ?? {}))
      routes.post(
        pathIn(CONSOLE + spec.path, name),
        ({ request, params, body, operator, tenant, actor }) =>
          act(spec, name, contextOf({ request, params, body, operator, tenant, actor })),
        macroOf(right),
      )
  }
  return routes
}

type Routed = TenantContext & { request: Request; params?: Record<string, string>; body?: Fields }

/** Errors that an action without a form can run into. Any other means a request that no page sends. */
const CONFLICT: ReadonlySet<ErrorKind> = new Set(['conflict'])

const formOf = ({ form }: Action<string>, context: PageContext): FormFields | undefined =>
  typeof form === 'function' ? form(context) : form

const macroOf = (access: Access): Record<string, Access | true> => {
  if (access === 'admin') return { instance: true }
  return access === 'operator' ? { operator: true } : { right: access }
}

interface Shown {
  submission?: Submission
  flash?: Flash
  status?: number
}

interface Rendered extends Shown {
  title: string
  above?: readonly Crumb[]
  node: VNode
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

/** Name of an action in addresses: `jobs.pause`. */
const keyOf = ({ path }: Page, action: string): string =>
  pathIn(path, action)
    .split('/')
    .filter((step) => step !== '' && !step.startsWith(':'))
    .join('-')

function flashesOf(spec: Page): [string, Flash][] {
  return Object.entries<Action<string>>(spec.actions ?? {}).flatMap(([name, { flash = {} }]) =>
    isFlash(flash)
      ? [[keyOf(spec, name), flash] as [string, Flash]]
      : Object.entries(flash).map(([which, one]): [string, Flash] => [
          `${keyOf(spec, name)}.${which}`,
          one,
        ]),
  )
}

const isFlash = (flash: object): flash is Flash => 'tone' in flash
