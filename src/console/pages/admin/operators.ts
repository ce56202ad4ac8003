import { Elysia } from 'elysia'
import { LoginLinkPage, OperatorPage } from '../../../../views/console/pages/admin/operator.tsx'
import {
  OPERATOR_FILTERS,
  type OperatorsFilter,
  OperatorsPage,
} from '../../../../views/console/pages/admin/operators.tsx'
import type { Db } from '../../../db/open.ts'
import type { GateOperators } from '../../../engines/gate/operators/index.ts'
import type { Operator } from '../../../engines/gate/operators/list.ts'
import type { Fields } from '../../../http/body.ts'
import type { Actor } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { flashOf } from '../../flash.ts'
import { trimmedText } from '../../form.ts'
import { crumbTo, type Layout } from '../../layout.ts'
import type { ConsoleMiddleware, OperatorContext } from '../../middleware.ts'
import type { Operators } from '../../operators/index.ts'
import { createOperatorStore } from '../../operators/store/index.ts'
import { createListing } from './listing.ts'

const PATH = '/console/admin/operators'
/** Operators are counted up to this number. */
const MAX_COUNTED = 10_000

/** Position in the list, for every order. */
type Position = readonly [seq: number, email: string, id: string]

/** Operators of the console: admin role, account state and sign-in links. */
export function operatorPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  db: Db
  clock: Clock
  gateOperators: GateOperators
  operators: Pick<Operators, 'admins' | 'loginLinks'>
}) {
  const { middleware, layout, db, clock, gateOperators } = parts
  const { admins, loginLinks } = parts.operators
  const store = createOperatorStore(db)
  const cursor = createCursor('console operators', ['number', 'string', 'string'])
  const listing = createListing<Position>({ layout, path: PATH, cursor })

  function list({ request, operator }: Context): Response {
    const { params, q, search, after, limit, cut } = listing(request)
    const show = OPERATOR_FILTERS.find((one) => one === params.get('show'))
    const found = rowsOf({ show, search, after, limit })
    const { rows, pages } = cut(found, ({ seq, email, id }) => [seq, email, id], { show })
    const children = OperatorsPage({
      base: layout.base(),
      rows: rows.map((one) => ({
        ...one,
        isAdmin: store.isAdmin(one.id),
        memberships: store.membershipsOf(one.id),
      })),
      counts: {
        active: gateOperators.operatorList.count('active', MAX_COUNTED),
        inactive: gateOperators.operatorList.count('inactive', MAX_COUNTED),
        admins: store.countAdmins(MAX_COUNTED),
      },
      mostCounted: MAX_COUNTED,
      q,
      show,
      pages,
      now: clock.now(),
    })
    return layout.page({ request, operator, title: 'Operators', active: 'operators', children })
  }

  /** Operators by exact ID or by email prefix. */
  function rowsOf(filters: {
    show: OperatorsFilter | undefined
    search: string | undefined
    after: Position | undefined
    limit: number
  }): (Operator & { seq: number })[] {
    const { show, search, after, limit } = filters
    const known =
      search === undefined ? undefined : gateOperators.operatorList.find(search.toLowerCase())
    if (known) return matches(known, show) ? [{ ...known, seq: 0 }] : []
    if (show === 'admins')
      return store
        .admins({ search: search?.toLowerCase(), after: after?.[2], limit })
        .map((row) => ({ ...gateOperators.operatorList.of(row), seq: 0 }))
    return gateOperators.operatorList.page({
      state: show === 'deactivated' ? 'inactive' : undefined,
      search,
      after: after && { seq: after[0], email: after[1] },
      limit,
    })
  }

  function matches({ id, state }: Operator, show: OperatorsFilter | undefined): boolean {
    if (show === 'admins') return store.isAdmin(id)
    return show === undefined || state === 'inactive'
  }

  function show(context: Context, id: string): Response {
    const { request } = context
    const operator = admins.existing(id)
    return layout.page({
      ...headOf(context, operator),
      flash: flashOf(FLASHES, new URL(request.url).searchParams.get('done')),
      children: OperatorPage({
        base: layout.base(),
        operator: { ...operator, isAdmin: store.isAdmin(id) },
        memberships: store.membershipsOf(id),
        sessions: gateOperators.sessions.list(id).length,
        isSelf: context.operator.id === id,
        isLastAdmin: admins.isLast(id),
        isMailed: loginLinks.isMailed,
        now: clock.now(),
      }),
    })
  }

  const headOf = ({ request, operator }: Pick<Context, 'request' | 'operator'>, of: Operator) => ({
    request,
    operator,
    title: of.email,
    active: 'operators' as const,
    above: [crumbTo(layout.base(), 'operators')],
  })

  /** Shows the link in the response to the form, because it is not stored. */
  async function makeLink(context: Context, id: string): Promise<Response> {
    const operator = admins.existing(id)
    const link = await loginLinks.make(context.actor, operator)
    if (link === undefined) return layout.go(`${PATH}/${id}?done=sent`)
    const children = LoginLinkPage({ base: layout.base(), operator, link })
    return layout.page({ ...headOf(context, operator), children })
  }

  /** Operators who remove their own admin role lose access to this page. */
  async function take({ actor, operator }: Context, id: string): Promise<Response> {
    await admins.take(actor, id)
    return layout.go(operator.id === id ? '/console' : `${PATH}/${id}?done=taken`)
  }

  const act =
    (work: (actor: Actor, id: string) => Promise<void>, done: keyof typeof FLASHES) =>
    async ({ actor }: Context, id: string): Promise<Response> => {
      await work(actor, id)
      return layout.go(`${PATH}/${id}?done=${done}`)
    }

  async function give({ actor, body }: Context & { body: unknown }, id: string): Promise<Response> {
    const email = trimmedText((body ?? {}) as Fields, 'email') || admins.existing(id).email
    await admins.give(actor, { id, email })
    return layout.go(`${PATH}/${id}?done=given`)
  }

  const deactivate = act(admins.deactivate, 'deactivated')
  const reactivate = act(admins.reactivate, 'reactivated')
  const signOut = act(admins.signOut, 'signed-out')

  return new Elysia({ name: 'operator pages', prefix: PATH, detail: { hide: true } })
    .use(middleware)
    .get('', (context) => list(context), { instance: true })
    .get('/:id', (context) => show(context, context.params.id), { instance: true })
    .post('/:id/give-admin', (context) => give(context, context.params.id), { instance: true })
    .post('/:id/take-admin', (context) => take(context, context.params.id), { instance: true })
    .post('/:id/deactivate', (context) => deactivate(context, context.params.id), {
      instance: true,
    })
    .post('/:id/reactivate', (context) => reactivate(context, context.params.id), {
      instance: true,
    })
    .post('/:id/sign-out', (context) => signOut(context, context.params.id), { instance: true })
    .post('/:id/login-link', (context) => makeLink(context, context.params.id), { instance: true })
}

type Context = OperatorContext & { request: Request }

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  given: { tone: 'good', text: 'Admin role granted.' },
  taken: { tone: 'good', text: 'Admin role removed.' },
  deactivated: { tone: 'good', text: 'Operator deactivated and signed out.' },
  reactivated: { tone: 'good', text: 'Operator reactivated.' },
  'signed-out': { tone: 'good', text: 'All sessions signed out.' },
  sent: { tone: 'good', text: 'Sign-in link sent.' },
}
