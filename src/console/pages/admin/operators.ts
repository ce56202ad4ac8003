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
import { typed } from '../../form.ts'
import { crumbTo, type Frames } from '../../frame.ts'
import type { ConsoleKit, OperatorVisit } from '../../kit.ts'
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
  kit: ConsoleKit
  frames: Frames
  db: Db
  clock: Clock
  gateOperators: GateOperators
  operators: Pick<Operators, 'admins' | 'loginLinks'>
}) {
  const { kit, frames, db, clock, gateOperators } = parts
  const { admins, loginLinks } = parts.operators
  const store = createOperatorStore(db)
  const cursor = createCursor('console operators', ['number', 'string', 'string'])
  const listing = createListing<Position>({ frames, path: PATH, cursor })

  function list({ request, visitor }: Visit): Response {
    const { asked, q, search, after, limit, cut } = listing(request)
    const show = OPERATOR_FILTERS.find((one) => one === asked.get('show'))
    const found = rowsOf({ show, search, after, limit })
    const { lines, pages } = cut(found, ({ seq, email, id }) => [seq, email, id], { show })
    const children = OperatorsPage({
      base: frames.base(),
      lines: lines.map((one) => ({
        ...one,
        isAdmin: store.isAdmin(one.id),
        runs: store.membershipsOf(one.id),
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
    return frames.page({ request, visitor, title: 'Operators', active: 'operators', children })
  }

  /** Operators by exact ID or by email prefix. */
  function rowsOf(asked: {
    show: OperatorsFilter | undefined
    search: string | undefined
    after: Position | undefined
    limit: number
  }): (Operator & { seq: number })[] {
    const { show, search, after, limit } = asked
    const known =
      search === undefined ? undefined : gateOperators.operatorList.find(search.toLowerCase())
    if (known) return fits(known, show) ? [{ ...known, seq: 0 }] : []
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

  function fits({ id, state }: Operator, show: OperatorsFilter | undefined): boolean {
    if (show === 'admins') return store.isAdmin(id)
    return show === undefined || state === 'inactive'
  }

  function show({ request, visitor }: Visit, id: string): Response {
    const operator = admins.existing(id)
    return frames.page({
      ...framedBy({ request, visitor }, operator),
      flash: flashOf(FLASHES, new URL(request.url).searchParams.get('done')),
      children: OperatorPage({
        base: frames.base(),
        operator: { ...operator, isAdmin: store.isAdmin(id) },
        runs: store.membershipsOf(id),
        sessions: gateOperators.sessions.list(id).length,
        isSelf: visitor.id === id,
        isLastAdmin: admins.isLast(id),
        isMailed: loginLinks.isMailed,
        now: clock.now(),
      }),
    })
  }

  const framedBy = ({ request, visitor }: Pick<Visit, 'request' | 'visitor'>, of: Operator) => ({
    request,
    visitor,
    title: of.email,
    active: 'operators' as const,
    above: [crumbTo(frames.base(), 'operators')],
  })

  /** Shows the link in the response to the form, because it is not stored. */
  async function makeLink({ request, visitor, actor }: Visit, id: string): Promise<Response> {
    const operator = admins.existing(id)
    const link = await loginLinks.make(actor, operator)
    if (link === undefined) return frames.go(`${PATH}/${id}?done=sent`)
    const children = LoginLinkPage({ base: frames.base(), operator, link })
    return frames.page({ ...framedBy({ request, visitor }, operator), children })
  }

  /** Operators who remove their own admin role lose access to this page. */
  async function take({ actor, visitor }: Visit, id: string): Promise<Response> {
    await admins.take(actor, id)
    return frames.go(visitor.id === id ? '/console' : `${PATH}/${id}?done=taken`)
  }

  const act =
    (work: (actor: Actor, id: string) => Promise<void>, done: keyof typeof FLASHES) =>
    async ({ actor }: Visit, id: string): Promise<Response> => {
      await work(actor, id)
      return frames.go(`${PATH}/${id}?done=${done}`)
    }

  async function give({ actor, body }: Visit & { body: unknown }, id: string): Promise<Response> {
    const email = typed((body ?? {}) as Fields, 'email') || admins.existing(id).email
    await admins.give(actor, { id, email })
    return frames.go(`${PATH}/${id}?done=given`)
  }

  const deactivate = act(admins.deactivate, 'deactivated')
  const reactivate = act(admins.reactivate, 'reactivated')
  const signOut = act(admins.signOut, 'signed-out')

  return new Elysia({ name: 'operator pages', prefix: PATH, detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(visit), { instance: true })
    .get('/:id', (visit) => show(visit, visit.params.id), { instance: true })
    .post('/:id/give-admin', (visit) => give(visit, visit.params.id), { instance: true })
    .post('/:id/take-admin', (visit) => take(visit, visit.params.id), { instance: true })
    .post('/:id/deactivate', (visit) => deactivate(visit, visit.params.id), { instance: true })
    .post('/:id/reactivate', (visit) => reactivate(visit, visit.params.id), { instance: true })
    .post('/:id/sign-out', (visit) => signOut(visit, visit.params.id), { instance: true })
    .post('/:id/login-link', (visit) => makeLink(visit, visit.params.id), { instance: true })
}

type Visit = OperatorVisit & { request: Request }

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  given: { tone: 'good', text: 'Admin role granted.' },
  taken: { tone: 'good', text: 'Admin role removed.' },
  deactivated: { tone: 'good', text: 'Operator deactivated and signed out.' },
  reactivated: { tone: 'good', text: 'Operator reactivated.' },
  'signed-out': { tone: 'good', text: 'All sessions signed out.' },
  sent: { tone: 'good', text: 'Sign-in link sent.' },
}
