import { Elysia } from 'elysia'
import { JobPage } from '../../../../views/console/pages/clockwork/job.tsx'
import type { Flash } from '../../../../views/console/toast.tsx'
import { shownTo } from '../../../engines/clockwork/shown-job.ts'
import { submitted } from '../../form.ts'
import { may } from '../../operators/rights.ts'
import { gapsIn } from './gaps.ts'
import { createJobForms } from './job-form.ts'
import { createJobList } from './job-list.ts'
import { type ClockworkPageParts, createJobVisits, fieldsIn, type Visit } from './visit.ts'

const NEXT_RUNS = 5

/** Jobs: list, details, run, pause, resume and deletion. */
export function jobPages(parts: ClockworkPageParts) {
  const { kit, frames, clock, baseUrl } = parts
  const { jobs, preview, queries } = parts.clockwork
  const visits = createJobVisits(parts, { page: 'jobs', flashes: FLASHES })
  const { caller, searchOf, go, jobPage, attemptsOf } = visits
  const list = createJobList(parts, visits)
  const forms = createJobForms(parts, visits)

  function show(visit: Visit, id: string, refusal?: string): Response {
    const { tenantId, role } = visit.tenant
    const found = jobs.get(tenantId, id)
    const job = shownTo(caller(visit), found)
    const runs = attemptsOf(visit, found)
    const { description, next_runs: nextRuns } = preview({ schedule: job.schedule })
    const children = JobPage({
      base: frames.base(),
      apiUrl: baseUrl(),
      job,
      schedule: description,
      nextRuns: nextRuns.slice(0, NEXT_RUNS),
      ...runs,
      gaps: gapsIn(job, runs.attempts),
      isListed: searchOf(visit).has('list'),
      open: queries.open(tenantId, id),
      mayChange: may(role, 'change'),
      mayDelete: may(role, 'delete'),
      now: clock.now(),
    })
    return jobPage(visit, job.name, refusal, children)
  }

  async function run(visit: Visit, id: string): Promise<Response> {
    const { errors } = await submitted(async () => jobs.runNow(caller(visit), id))
    return errors ? show(visit, id, errors[0]?.message) : go(`/${id}`, 'asked')
  }

  async function setActive(visit: Visit, id: string, isActive: boolean): Promise<Response> {
    const { is_active: was } = jobs.get(visit.tenant.tenantId, id)
    // Resuming an active job would restart its schedule.
    if (was !== isActive) await jobs.update(caller(visit), id, { is_active: isActive })
    return go(`/${id}`, isActive ? 'resumed' : 'paused')
  }

  async function remove(visit: Visit, id: string): Promise<Response> {
    await jobs.remove(caller(visit), id)
    return go('', 'deleted')
  }

  return new Elysia({ name: 'job pages', prefix: '/console/jobs', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(visit), { right: 'read' })
    .get('/new', (visit) => forms.begin(visit), { right: 'change' })
    .post('', (visit) => forms.create(visit, fieldsIn(visit.body)), { right: 'change' })
    .get('/:id', (visit) => show(visit, visit.params.id), { right: 'read' })
    .get('/:id/edit', (visit) => forms.edit(visit, visit.params.id), { right: 'change' })
    .post('/:id/edit', (visit) => forms.change(visit, visit.params.id, fieldsIn(visit.body)), {
      right: 'change',
    })
    .post('/:id/run', (visit) => run(visit, visit.params.id), { right: 'change' })
    .post('/:id/pause', (visit) => setActive(visit, visit.params.id, false), { right: 'change' })
    .post('/:id/resume', (visit) => setActive(visit, visit.params.id, true), { right: 'change' })
    .post('/:id/delete', (visit) => remove(visit, visit.params.id), { right: 'delete' })
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
