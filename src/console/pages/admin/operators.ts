import { Elysia } from 'elysia'
import { OperatorPage, OperatorsPage } from '../../../../views/console/pages/admin/operators.tsx'
import { url } from '../../../../views/console/url.ts'
import type { Db } from '../../../db/open.ts'
import type { Actor, Audit } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { createCursor, page } from '../../../platform/cursor.ts'
import { conflict, fail, notFound } from '../../../platform/errors.ts'
import { HOUSE_ID } from '../../../platform/house.ts'
import type { Frames } from '../../frame.ts'
import type { ConsoleKit, OperatorVisit } from '../../kit.ts'
import { createOperatorStore, type OperatorStore } from '../../operators/store.ts'

const PATH = '/console/admin/operators'
const ROWS = 50

/** People at the console, and who of them runs the installation. */
export function operatorPages(parts: {
  kit: ConsoleKit
  frames: Frames
  db: Db
  audit: Audit
  clock: Clock
}) {
  const { kit, frames, db, clock } = parts
  const store = createOperatorStore(db)
  const admins = createAdmins({ ...parts, store })
  const cursor = createCursor('console operators', ['number', 'string'])

  function list({ request, visitor }: Visit): Response {
    const asked = new URL(request.url).searchParams
    const q = asked.get('q')?.trim() ?? ''
    const isAdminOnly = asked.get('admin') === 'true'
    const all = store
      .everybody()
      .map((one) => ({ ...present(one), isAdmin: store.isAdmin(one.id) }))
    const found = all.filter((one) => isAbout(one, q))
    const shown = isAdminOnly ? found.filter(({ isAdmin }) => isAdmin) : found
    const after = cursor.positionOf(asked.get('cursor') ?? undefined)
    const { data, next_cursor: next } = page(
      shown.toSorted(newestFirst).filter((one) => !after || isOlder(one, after)),
      ROWS,
      ({ createdAt, id }) => cursor.encode([createdAt, id]),
    )
    const hrefOf = (query: object) =>
      url(frames.base(), PATH, { q, admin: isAdminOnly ? true : undefined, ...query })
    const children = OperatorsPage({
      base: frames.base(),
      lines: data.map((one) => ({ ...one, runs: store.membershipsOf(one.id) })),
      all,
      found,
      total: shown.length,
      q,
      isAdminOnly,
      olderHref: next === null ? undefined : hrefOf({ cursor: next }),
      newerHref: after ? hrefOf({}) : undefined,
      now: clock.now(),
    })
    return frames.page({ request, visitor, title: 'Operators', active: 'tenants', children })
  }

  function show({ request, visitor }: Visit, id: string): Response {
    const operator = existing(store, id)
    return frames.page({
      request,
      visitor,
      title: operator.email,
      active: 'tenants',
      above: [{ label: 'Operators', href: url(frames.base(), PATH) }],
      flash: FLASHES[new URL(request.url).searchParams.get('done') ?? ''],
      children: OperatorPage({
        base: frames.base(),
        operator: { ...present(operator), isAdmin: store.isAdmin(id) },
        runs: store.membershipsOf(id),
        isSelf: visitor.id === id,
        isLastAdmin: admins.isLast(id),
        now: clock.now(),
      }),
    })
  }

  async function give({ actor }: Visit, id: string): Promise<Response> {
    await admins.give(actor, id)
    return frames.go(`${PATH}/${id}?done=given`)
  }

  /** Whoever has given up their own right has no page here any more. */
  async function take({ actor, visitor }: Visit, id: string): Promise<Response> {
    await admins.take(actor, id)
    return frames.go(visitor.id === id ? '/console' : `${PATH}/${id}?done=taken`)
  }

  return new Elysia({ name: 'operator pages', prefix: PATH, detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(visit), { instance: true })
    .get('/:id', (visit) => show(visit, visit.params.id), { instance: true })
    .post('/:id/give-admin', (visit) => give(visit, visit.params.id), { instance: true })
    .post('/:id/take-admin', (visit) => take(visit, visit.params.id), { instance: true })
}

/** Who runs the installation: somebody always does. */
function createAdmins(parts: { db: Db; audit: Audit; clock: Clock; store: OperatorStore }) {
  const { db, audit, clock, store } = parts

  const give = (actor: Actor, id: string): Promise<void> =>
    db.commit(() => {
      if (existing(store, id).state !== 'active')
        throw conflict('their account is deactivated; nobody could use the right')
      if (store.isAdmin(id)) return
      store.addAdmin(id, clock.now())
      record(actor, 'admin.added', id)
    })

  const take = (actor: Actor, id: string): Promise<void> =>
    db.commit(() => {
      existing(store, id)
      if (!store.isAdmin(id)) return
      if (isLast(id))
        throw conflict('nobody else runs the installation; give somebody else the right first')
      store.removeAdmin(id)
      record(actor, 'admin.removed', id)
    })

  /** Who is deactivated cannot run anything. */
  const isLast = (id: string): boolean =>
    store.isAdmin(id) &&
    !store
      .everybody()
      .some((other) => other.id !== id && other.state === 'active' && store.isAdmin(other.id))

  const record = (actor: Actor, action: string, id: string) =>
    audit.record({ tenantId: HOUSE_ID, actor, action, object: `operator:${id}` })

  return { give, take, isLast }
}

type Visit = OperatorVisit & { request: Request }
type PersonRow = ReturnType<OperatorStore['everybody']>[number]
type Person = ReturnType<typeof present>

const existing = (store: OperatorStore, id: string): PersonRow =>
  store.everybody().find((one) => one.id === id) ?? fail(notFound('operator not found'))

function present({ id, email, traits, state, createdAt }: PersonRow) {
  const { display_name: name = '' }: { display_name?: string } = JSON.parse(traits)
  return { id, email, name, state, createdAt }
}

const isAbout = ({ id, email, name }: Person, q: string): boolean =>
  [id, email, name].some((text) => text.toLowerCase().includes(q.toLowerCase()))

const newestFirst = (a: Person, b: Person): number =>
  b.createdAt - a.createdAt || (b.id < a.id ? -1 : 1)

const isOlder = ({ createdAt, id }: Person, [at, thenId]: readonly [number, string]): boolean =>
  createdAt < at || (createdAt === at && id < thenId)

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  given: { tone: 'good', text: 'They run the installation from now on.' },
  taken: { tone: 'good', text: 'They do not run the installation any more.' },
}
