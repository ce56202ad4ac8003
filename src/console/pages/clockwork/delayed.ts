import { Elysia } from 'elysia'
import { DelayedFormPage } from '../../../../views/console/pages/clockwork/delayed-form.tsx'
import { DelayedJobPage } from '../../../../views/console/pages/clockwork/delayed-job.tsx'
import type { Flash } from '../../../../views/console/toast.tsx'
import { parseRunAt } from '../../../engines/clockwork/run-at.ts'
import { shownTo } from '../../../engines/clockwork/shown-job.ts'
import type { Fields } from '../../../http/body.ts'
import { submitted, typed } from '../../form.ts'
import { may } from '../../operators/rights.ts'
import { createDelayedList } from './delayed-list.ts'
import { callIn, sent } from './fields.ts'
import {
  type ClockworkPageParts,
  createJobVisits,
  fieldsIn,
  type Returned,
  type Visit,
} from './visit.ts'

/** Delayed jobs: list, creation, details, cancellation. */
export function delayedPages(parts: ClockworkPageParts) {
  const { kit, frames, audit, clock, baseUrl } = parts
  const { delayed, checkCall } = parts.clockwork
  const visits = createJobVisits(parts, { page: 'delayed', flashes: FLASHES })
  const { caller, go, formPage, jobPage, attemptsOf } = visits
  const list = createDelayedList(parts, visits)

  const form = (visit: Visit, of: Returned = {}): Response =>
    formPage(visit, {
      title: 'New delayed job',
      isWrong: of.errors !== undefined,
      children: DelayedFormPage({
        base: frames.base(),
        typed: of.typed ?? {},
        errors: of.errors,
        now: clock.now(),
      }),
    })

  async function create(visit: Visit, body: Fields): Promise<Response> {
    const runAt = momentOf(typed(body, 'run_at'))
    const { value, errors } = await sent(body, {
      checkCall,
      checks: [() => parseRunAt(runAt, clock.now())],
      work: () =>
        delayed.create(caller(visit), { ...callIn(body), run_at: runAt }, (id) =>
          recordCreation(visit, id),
        ),
    })
    return value ? go(`/${value.id}`, 'created') : form(visit, { typed: body, errors })
  }

  /** Creates a delayed job. The audit log records jobs created in the console, but not those of the API. */
  const recordCreation = ({ tenant: { tenantId }, actor }: Visit, id: string) =>
    audit.record({
      tenantId,
      actor,
      action: 'delayed_job.created',
      object: `delayed_job:${id}`,
    })

  function show(visit: Visit, id: string, refusal?: string): Response {
    const { tenantId, role } = visit.tenant
    const job = delayed.get(tenantId, id)
    const children = DelayedJobPage({
      base: frames.base(),
      apiUrl: baseUrl(),
      job: shownTo(caller(visit), job),
      ...attemptsOf(visit, job),
      mayDelete: may(role, 'delete'),
      now: clock.now(),
    })
    return jobPage(visit, job.name, refusal, children)
  }

  async function cancel(visit: Visit, id: string): Promise<Response> {
    const { errors } = await submitted(async () => delayed.cancel(caller(visit), id))
    return errors ? show(visit, id, errors[0]?.message) : go(`/${id}`, 'cancelled')
  }

  return new Elysia({
    name: 'delayed job pages',
    prefix: '/console/delayed',
    detail: { hide: true },
  })
    .use(kit)
    .get('', (visit) => list(visit), { right: 'read' })
    .get('/new', (visit) => form(visit), { right: 'change' })
    .post('', (visit) => create(visit, fieldsIn(visit.body)), { right: 'change' })
    .get('/:id', (visit) => show(visit, visit.params.id), { right: 'read' })
    .post('/:id/cancel', (visit) => cancel(visit, visit.params.id), { right: 'delete' })
}

/** Adds UTC to a time from a form, which has no zone. */
function momentOf(text: string): string {
  const [, minute, seconds = ':00'] = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d)(:\d\d)?$/.exec(text) ?? []
  return minute === undefined ? text : `${minute.replace(' ', 'T')}${seconds}Z`
}

const FLASHES: Readonly<Record<string, Flash>> = {
  created: { tone: 'good', text: 'Delayed job created.' },
  cancelled: { tone: 'good', text: 'Delayed job cancelled.' },
}
