import { Elysia } from 'elysia'
import type { FormError } from '../../../views/console/form/error-summary.tsx'
import {
  DELAYED_STATUSES,
  DelayedFormPage,
  DelayedJobPage,
  DelayedPage,
} from '../../../views/console/pages/delayed.tsx'
import { shorten } from '../../../views/console/text.tsx'
import type { Flash } from '../../../views/console/toast.tsx'
import { url } from '../../../views/console/url.ts'
import type { Db } from '../../db/open.ts'
import type { Clockwork } from '../../engines/clockwork/index.ts'
import type { DelayedJobLook } from '../../engines/clockwork/looks.ts'
import type { Fields } from '../../http/body.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { createCursor } from '../../platform/cursor.ts'
import { fail, notFound } from '../../platform/errors.ts'
import type { CallerOf } from '../callers.ts'
import { submitted, typed } from '../form.ts'
import { crumbTo, type Frames } from '../frame.ts'
import type { ConsoleKit, TenantVisit } from '../kit.ts'
import { may } from '../operators/rights.ts'
import { callIn, JOB_FIELDS } from './job-fields.ts'

const PATH = '/console/delayed'
const ROWS = 50
/** The latest ones, that a list counts and searches at once; earlier ones are a page further. */
const LOOKED_AT = 1000
const LONGEST_TITLE = 60

type Visit = TenantVisit & { request: Request }

/** Jobs that run once: which wait, which failed, and how each went. */
export function delayedPages(parts: {
  kit: ConsoleKit
  frames: Frames
  clockwork: Pick<Clockwork, 'delayed' | 'looks'>
  callerOf: CallerOf
  db: Db
  audit: Audit
  clock: Clock
  baseUrl: () => string
}) {
  const { kit, frames, callerOf, db, audit, clock, baseUrl } = parts
  const { delayed, looks } = parts.clockwork
  const cursor = createCursor('console delayed jobs', ['number', 'number'])
  const caller = (visit: Visit) => callerOf(visit, 'clockwork', null)

  function list({ request, visitor, tenant: { tenantId, role } }: Visit): Response {
    const asked = new URL(request.url).searchParams
    const q = asked.get('q')?.trim() ?? ''
    const status = DELAYED_STATUSES.find((one) => one === asked.get('status'))
    const before = cursor.positionOf(asked.get('cursor') ?? undefined)
    const latest = looks.delayed(tenantId, LOOKED_AT)
    const looked = before
      ? looks.delayed(tenantId, LOOKED_AT, { runAt: before[0], seq: before[1] })
      : latest
    const shown = looked.filter(
      (job) => isAbout(job, q) && (status === undefined || job.status === status),
    )
    const rows = shown.slice(0, ROWS)
    const last = shown.length > ROWS ? rows.at(-1) : looked[LOOKED_AT - 1]
    const hrefOf = (from?: DelayedJobLook) =>
      url(frames.base(), PATH, {
        q,
        status,
        cursor: from && cursor.encode([from.runAt, from.seq]),
      })
    const children = DelayedPage({
      base: frames.base(),
      apiUrl: baseUrl(),
      rows,
      latest,
      found: latest.filter((job) => isAbout(job, q)),
      hasMore: latest.length === LOOKED_AT,
      q,
      status,
      newerHref: before && hrefOf(),
      olderHref: last && hrefOf(last),
      mayChange: may(role, 'change'),
      now: clock.now(),
    })
    return frames.page({ request, visitor, title: 'Delayed', active: 'delayed', children })
  }

  function form(
    { request, visitor }: Visit,
    of: { typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    return frames.page({
      request,
      visitor,
      title: 'New delayed job',
      active: 'delayed',
      above: [crumbTo(frames.base(), 'delayed')],
      status: of.errors ? 422 : 200,
      children: DelayedFormPage({ base: frames.base(), typed: of.typed ?? {}, errors: of.errors }),
    })
  }

  async function create(visit: Visit, body: Fields): Promise<Response> {
    const { value, errors } = await submitted(
      async () =>
        delayed.create(caller(visit), {
          ...callIn(body),
          run_at: momentOf(typed(body, 'run_at')),
        }),
      JOB_FIELDS,
    )
    if (!value) return form(visit, { typed: body, errors })
    await recordCreation(visit, value.id)
    return frames.go(`${PATH}/${value.id}?done=created`)
  }

  /** Programs make too many for the audit log; what a person makes is in it. */
  const recordCreation = ({ tenant: { tenantId }, actor }: Visit, id: string) =>
    db.commit(() =>
      audit.record({
        tenantId,
        actor,
        action: 'delayed_job.created',
        object: `delayed_job:${id}`,
      }),
    )

  function show(visit: Visit, id: string, refusal?: string): Response {
    const { request, visitor, tenant } = visit
    const { tenantId, role } = tenant
    const job = delayed.get(tenantId, id)
    const asked = new URL(request.url).searchParams
    const attempts = looks.attempts(tenantId, id)
    const chosen = asked.get('execution') ?? attempts[0]?.id
    const children = DelayedJobPage({
      base: frames.base(),
      apiUrl: baseUrl(),
      job,
      attempts,
      selected:
        chosen === undefined
          ? undefined
          : (looks.attempt(tenantId, id, chosen) ?? fail(notFound('execution not found'))),
      mayDelete: may(role, 'delete'),
      now: clock.now(),
    })
    const flash: Flash | undefined =
      refusal === undefined ? FLASHES[asked.get('done') ?? ''] : { tone: 'bad', text: refusal }
    return frames.page({
      request,
      visitor,
      title: shorten(job.name, LONGEST_TITLE),
      active: 'delayed',
      above: [crumbTo(frames.base(), 'delayed')],
      flash,
      status: refusal === undefined ? 200 : 409,
      children,
    })
  }

  async function cancel(visit: Visit, id: string): Promise<Response> {
    const { errors } = await submitted(async () => delayed.cancel(caller(visit), id))
    return errors ? show(visit, id, errors[0]?.message) : frames.go(`${PATH}/${id}?done=cancelled`)
  }

  return new Elysia({ name: 'delayed job pages', prefix: PATH, detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(visit), { right: 'read' })
    .get('/new', (visit) => form(visit), { right: 'change' })
    .post('', (visit) => create(visit, (visit.body ?? {}) as Fields), { right: 'change' })
    .get('/:id', (visit) => show(visit, visit.params.id), { right: 'read' })
    .post('/:id/cancel', (visit) => cancel(visit, visit.params.id), { right: 'delete' })
}

const isAbout = ({ id, name, url: target }: DelayedJobLook, q: string): boolean =>
  id === q ||
  name.toLowerCase().includes(q.toLowerCase()) ||
  target.toLowerCase().includes(q.toLowerCase())

/** Fields for times give none of a zone: the form asks for UTC. Anything else goes as it is. */
function momentOf(text: string): string {
  const [, minute, seconds = ':00'] = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d)(:\d\d)?$/.exec(text) ?? []
  return minute === undefined ? text : `${minute.replace(' ', 'T')}${seconds}Z`
}

const FLASHES: Readonly<Record<string, Flash>> = {
  created: { tone: 'good', text: 'Created. It runs once, at its time.' },
  cancelled: { tone: 'good', text: 'Cancelled. It will not run.' },
}
