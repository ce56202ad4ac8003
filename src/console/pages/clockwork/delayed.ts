import { Elysia } from 'elysia'
import { DelayedFormPage } from '../../../../views/console/pages/clockwork/delayed-form.tsx'
import { DelayedJobPage } from '../../../../views/console/pages/clockwork/delayed-job.tsx'
import type { Flash } from '../../../../views/console/toast.tsx'
import { parseRunAt } from '../../../engines/clockwork/run-at.ts'
import { shownTo } from '../../../engines/clockwork/shown-job.ts'
import type { Fields } from '../../../http/body.ts'
import { submitted, trimmedText } from '../../form.ts'
import { may } from '../../operators/rights.ts'
import {
  type ClockworkPageParts,
  type Context,
  createJobContexts,
  fieldsIn,
  type Returned,
} from './context.ts'
import { createDelayedList } from './delayed-list.ts'
import { callIn, sent } from './fields.ts'

/** Delayed jobs: list, creation, details, cancellation. */
export function delayedPages(parts: ClockworkPageParts) {
  const { middleware, layout, audit, clock, baseUrl } = parts
  const { delayed, checkCall } = parts.clockwork
  const contexts = createJobContexts(parts, { page: 'delayed', flashes: FLASHES })
  const { caller, go, formPage, jobPage, attemptsOf } = contexts
  const list = createDelayedList(parts, contexts)

  const form = (context: Context, of: Returned = {}): Response =>
    formPage(context, {
      title: 'New delayed job',
      isWrong: of.errors !== undefined,
      children: DelayedFormPage({
        base: layout.base(),
        values: of.values ?? {},
        errors: of.errors,
        now: clock.now(),
      }),
    })

  async function create(context: Context, body: Fields): Promise<Response> {
    const runAt = momentOf(trimmedText(body, 'run_at'))
    const { value, errors } = await sent(body, {
      checkCall,
      checks: [() => parseRunAt(runAt, clock.now())],
      work: () =>
        delayed.create(caller(context), { ...callIn(body), run_at: runAt }, (id) =>
          recordCreation(context, id),
        ),
    })
    return value ? go(`/${value.id}`, 'created') : form(context, { values: body, errors })
  }

  /** Creates a delayed job. The audit log records jobs created in the console, but not jobs created with the API. */
  const recordCreation = ({ tenant: { tenantId }, actor }: Context, id: string) =>
    audit.record({ tenantId, actor, action: 'delayed_job.created', object: `delayed_job:${id}` })

  function show(context: Context, id: string, refusal?: string): Response {
    const { tenantId, role } = context.tenant
    const job = delayed.get(tenantId, id)
    const children = DelayedJobPage({
      base: layout.base(),
      apiUrl: baseUrl(),
      job: shownTo(caller(context), job),
      ...attemptsOf(context, job),
      mayDelete: may(role, 'delete'),
      now: clock.now(),
    })
    return jobPage(context, job.name, refusal, children)
  }

  async function cancel(context: Context, id: string): Promise<Response> {
    const { errors } = await submitted(async () => delayed.cancel(caller(context), id))
    return errors ? show(context, id, errors[0]?.message) : go(`/${id}`, 'cancelled')
  }

  return new Elysia({
    name: 'delayed job pages',
    prefix: '/console/delayed',
    detail: { hide: true },
  })
    .use(middleware)
    .get('', (context) => list(context), { right: 'read' })
    .get('/new', (context) => form(context), { right: 'change' })
    .post('', (context) => create(context, fieldsIn(context.body)), { right: 'change' })
    .get('/:id', (context) => show(context, context.params.id), { right: 'read' })
    .post('/:id/cancel', (context) => cancel(context, context.params.id), { right: 'delete' })
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
