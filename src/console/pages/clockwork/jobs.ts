import { Elysia } from 'elysia'
import { JobPage } from '../../../../views/console/pages/clockwork/job.tsx'
import type { Flash } from '../../../../views/console/toast.tsx'
import { shownTo } from '../../../engines/clockwork/shown-job.ts'
import { submitted } from '../../form.ts'
import { may } from '../../operators/rights.ts'
import { type ClockworkPageParts, type Context, createJobContexts, fieldsIn } from './context.ts'
import { createJobForms } from './job-form.ts'
import { createJobList } from './job-list.ts'
import { skippedSlotsIn } from './skipped-slots.ts'

const NEXT_RUNS = 5

/** Jobs: list, details, run, pause, resume and deletion. */
export function jobPages(parts: ClockworkPageParts) {
  const { middleware, layout, clock, baseUrl } = parts
  const { jobs, preview, queries } = parts.clockwork
  const contexts = createJobContexts(parts, { page: 'jobs', flashes: FLASHES })
  const { caller, searchOf, go, jobPage, attemptsOf } = contexts
  const list = createJobList(parts, contexts)
  const forms = createJobForms(parts, contexts)

  function show(context: Context, id: string, refusal?: string): Response {
    const { tenantId, role } = context.tenant
    const found = jobs.get(tenantId, id)
    const job = shownTo(caller(context), found)
    const runs = attemptsOf(context, found)
    const { description, next_runs: nextRuns } = preview({ schedule: job.schedule })
    const children = JobPage({
      base: layout.base(),
      apiUrl: baseUrl(),
      job,
      schedule: description,
      nextRuns: nextRuns.slice(0, NEXT_RUNS),
      ...runs,
      skippedSlots: skippedSlotsIn(job, runs.attempts),
      isListed: searchOf(context).has('list'),
      open: queries.open(tenantId, id),
      mayChange: may(role, 'change'),
      mayDelete: may(role, 'delete'),
      now: clock.now(),
    })
    return jobPage(context, job.name, refusal, children)
  }

  async function run(context: Context, id: string): Promise<Response> {
    const { errors } = await submitted(async () => jobs.runNow(caller(context), id))
    return errors ? show(context, id, errors[0]?.message) : go(`/${id}`, 'asked')
  }

  async function setActive(context: Context, id: string, isActive: boolean): Promise<Response> {
    const { is_active: was } = jobs.get(context.tenant.tenantId, id)
    // Resuming an active job would restart its schedule.
    if (was !== isActive) await jobs.update(caller(context), id, { is_active: isActive })
    return go(`/${id}`, isActive ? 'resumed' : 'paused')
  }

  async function remove(context: Context, id: string): Promise<Response> {
    await jobs.remove(caller(context), id)
    return go('', 'deleted')
  }

  return new Elysia({ name: 'job pages', prefix: '/console/jobs', detail: { hide: true } })
    .use(middleware)
    .get('', (context) => list(context), { right: 'read' })
    .get('/new', (context) => forms.begin(context), { right: 'change' })
    .post('', (context) => forms.create(context, fieldsIn(context.body)), { right: 'change' })
    .get('/:id', (context) => show(context, context.params.id), { right: 'read' })
    .get('/:id/edit', (context) => forms.edit(context, context.params.id), { right: 'change' })
    .post(
      '/:id/edit',
      (context) => forms.change(context, context.params.id, fieldsIn(context.body)),
      { right: 'change' },
    )
    .post('/:id/run', (context) => run(context, context.params.id), { right: 'change' })
    .post('/:id/pause', (context) => setActive(context, context.params.id, false), {
      right: 'change',
    })
    .post('/:id/resume', (context) => setActive(context, context.params.id, true), {
      right: 'change',
    })
    .post('/:id/delete', (context) => remove(context, context.params.id), { right: 'delete' })
}

const FLASHES: Readonly<Record<string, Flash>> = {
  created: { tone: 'good', text: 'Job created.' },
  changed: { tone: 'good', text: "Job saved. Runs in progress don't change." },
  unchanged: { tone: 'good', text: 'No changes.' },
  asked: { tone: 'busy', text: "Run started. The schedule doesn't change." },
  paused: { tone: 'quiet', text: 'Job paused. Pending retries were dropped.' },
  resumed: { tone: 'good', text: 'Job resumed. Skipped runs are not repeated.' },
  deleted: { tone: 'good', text: 'Job deleted with its run history.' },
}
