import { Elysia } from 'elysia'
import { JobPage } from '../../../views/console/pages/job.tsx'
import {
  JOB_STATES,
  JobFormPage,
  type JobState,
  JobsPage,
} from '../../../views/console/pages/jobs.tsx'
import { shorten } from '../../../views/console/text.tsx'
import type { Flash } from '../../../views/console/toast.tsx'
import { url } from '../../../views/console/url.ts'
import type { Clockwork } from '../../engines/clockwork/index.ts'
import type { CronJobLook, ExecutionLook } from '../../engines/clockwork/looks.ts'
import type { CronJob, CronJobChange, Preview } from '../../engines/clockwork/model.ts'
import { countOccurrences, scheduleOf } from '../../engines/clockwork/schedule/index.ts'
import type { Fields } from '../../http/body.ts'
import type { Clock } from '../../platform/clock.ts'
import { createCursor } from '../../platform/cursor.ts'
import { fail, notFound } from '../../platform/errors.ts'
import type { CallerOf } from '../callers.ts'
import { submitted, typed } from '../form.ts'
import { crumbTo, type Frames } from '../frame.ts'
import type { ConsoleKit, TenantVisit } from '../kit.ts'
import { may } from '../operators/rights.ts'
import { asUnix, bodyTextIn, callIn, headerLines, JOB_FIELDS } from './job-fields.ts'

const PATH = '/console/jobs'
const DAY_MS = 86_400_000
const ROWS = 50
/** The newest ones, that a list counts and searches at once; older ones are a page further. */
const LOOKED_AT = 500
/** Of the attempts that a line of the list draws. */
const RECENT = 20
const NEXT_RUNS = 5
/** Slots without a run, counted up to so many: what is drawn is one gap, however wide. */
const MOST_SKIPPED = 100

type Visit = TenantVisit & { request: Request }

/** Recurring jobs: whether they work, why not, and all that can be done with them. */
export function jobPages(parts: {
  kit: ConsoleKit
  frames: Frames
  clockwork: Pick<Clockwork, 'jobs' | 'preview' | 'looks'>
  callerOf: CallerOf
  clock: Clock
  baseUrl: () => string
}) {
  const { kit, frames, callerOf, clock, baseUrl } = parts
  const { jobs, preview, looks } = parts.clockwork
  const cursor = createCursor('console jobs')
  const caller = (visit: Visit) => callerOf(visit, 'clockwork', null)

  function list({ request, visitor, tenant: { tenantId, role } }: Visit): Response {
    const asked = new URL(request.url).searchParams
    const q = asked.get('q')?.trim() ?? ''
    const state = JOB_STATES.find((one) => one === asked.get('state'))
    const before = cursor.positionOf(asked.get('cursor') ?? undefined)
    const now = clock.now()
    const look = (from?: number) =>
      looks.jobs(tenantId, { before: from, limit: LOOKED_AT, since: now - DAY_MS })
    const newest = look()
    const looked = before === undefined ? newest : look(before)
    const shown = looked.filter((job) => isAbout(job, q) && isIn(job, state))
    const rows = shown.slice(0, ROWS)
    const last = shown.length > ROWS ? rows.at(-1) : looked[LOOKED_AT - 1]
    const hrefOf = (from?: number) =>
      url(frames.base(), PATH, { q, state, cursor: from && cursor.encode(from) })
    const children = JobsPage({
      base: frames.base(),
      apiUrl: baseUrl(),
      rows: rows.map((job) => ({ ...job, recent: looks.attempts(tenantId, job.id, RECENT) })),
      newest,
      found: newest.filter((job) => isAbout(job, q)),
      hasMore: newest.length === LOOKED_AT,
      q,
      state,
      newerHref: before === undefined ? undefined : hrefOf(),
      olderHref: last && hrefOf(last.seq),
      mayChange: may(role, 'change'),
      now,
    })
    const flash = FLASHES[asked.get('done') ?? '']
    return frames.page({ request, visitor, title: 'Jobs', active: 'jobs', flash, children })
  }

  function form({ request, visitor }: Visit, of: Returned = {}): Response {
    const { job } = of
    return frames.page({
      request,
      visitor,
      title: job ? 'Edit' : 'New job',
      active: 'jobs',
      above: [crumbTo(frames.base(), 'jobs'), ...(job ? [crumbToJob(job)] : [])],
      status: of.errors ? 422 : 200,
      children: JobFormPage({
        base: frames.base(),
        job,
        typed: of.typed ?? (job ? fieldsOf(job) : {}),
        errors: of.errors,
        preview: of.preview,
        now: clock.now(),
      }),
    })
  }

  /** The form as it stands, with what its schedule would do. Stores nothing. */
  async function previewed(visit: Visit, body: Fields, job?: CronJob): Promise<Response> {
    const target = typed(body, 'url')
    const { value, errors } = await submitted(
      async () =>
        preview({ schedule: typed(body, 'schedule'), ...(target !== '' && { url: target }) }),
      JOB_FIELDS,
    )
    return form(visit, { job, typed: body, errors, preview: value })
  }

  async function create(visit: Visit, body: Fields): Promise<Response> {
    if (isPreview(body)) return previewed(visit, body)
    const { value, errors } = await submitted(
      async () =>
        jobs.create(caller(visit), {
          ...callIn(body),
          schedule: typed(body, 'schedule'),
          is_active: typed(body, 'is_active') === 'true',
        }),
      JOB_FIELDS,
    )
    return value
      ? frames.go(`${PATH}/${value.id}?done=created`)
      : form(visit, { typed: body, errors })
  }

  async function change(visit: Visit, id: string, body: Fields): Promise<Response> {
    const job = jobs.get(visit.tenant.tenantId, id)
    if (isPreview(body)) return previewed(visit, body, job)
    const { value, errors } = await submitted(async () => {
      const wanted = changeIn(body, job)
      if (Object.keys(wanted).length === 0) return 'unchanged'
      await jobs.update(caller(visit), id, wanted)
      return 'changed'
    }, JOB_FIELDS)
    return value
      ? frames.go(`${PATH}/${id}?done=${value}`)
      : form(visit, { job, typed: body, errors })
  }

  function show(visit: Visit, id: string, refusal?: string): Response {
    const { request, visitor, tenant } = visit
    const { tenantId, role } = tenant
    const job = jobs.get(tenantId, id)
    const asked = new URL(request.url).searchParams
    const attempts = looks.attempts(tenantId, id)
    const chosen = asked.get('execution') ?? attempts[0]?.id
    const { description, next_runs: nextRuns } = preview({ schedule: job.schedule })
    const children = JobPage({
      base: frames.base(),
      apiUrl: baseUrl(),
      job,
      schedule: description,
      nextRuns: nextRuns.slice(0, NEXT_RUNS),
      attempts,
      gaps: gapsIn(job, attempts),
      selected:
        chosen === undefined
          ? undefined
          : (looks.attempt(tenantId, id, chosen) ?? fail(notFound('execution not found'))),
      open: looks.open(tenantId, id),
      mayChange: may(role, 'change'),
      mayDelete: may(role, 'delete'),
      now: clock.now(),
    })
    const flash: Flash | undefined =
      refusal === undefined ? FLASHES[asked.get('done') ?? ''] : { tone: 'bad', text: refusal }
    return frames.page({
      request,
      visitor,
      title: shorten(job.name, LONGEST_TITLE),
      active: 'jobs',
      above: [crumbTo(frames.base(), 'jobs')],
      flash,
      status: refusal === undefined ? 200 : 409,
      children,
    })
  }

  async function run(visit: Visit, id: string): Promise<Response> {
    const { errors } = await submitted(async () => jobs.runNow(caller(visit), id))
    return errors ? show(visit, id, errors[0]?.message) : frames.go(`${PATH}/${id}?done=asked`)
  }

  async function setActive(visit: Visit, id: string, isActive: boolean): Promise<Response> {
    const { is_active: was } = jobs.get(visit.tenant.tenantId, id)
    // To resume a job that runs would let its schedule begin anew, and drop nothing.
    if (was !== isActive) await jobs.update(caller(visit), id, { is_active: isActive })
    return frames.go(`${PATH}/${id}?done=${isActive ? 'resumed' : 'paused'}`)
  }

  async function remove(visit: Visit, id: string): Promise<Response> {
    await jobs.remove(caller(visit), id)
    return frames.go(`${PATH}?done=deleted`)
  }

  const crumbToJob = ({ id, name }: CronJob) => ({
    label: shorten(name, LONGEST_TITLE),
    href: url(frames.base(), `${PATH}/${id}`),
  })

  const existing = ({ tenant }: Visit, id: string): CronJob => jobs.get(tenant.tenantId, id)

  return new Elysia({ name: 'job pages', prefix: PATH, detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(visit), { right: 'read' })
    .get('/new', (visit) => form(visit), { right: 'change' })
    .post('', (visit) => create(visit, fieldsIn(visit.body)), { right: 'change' })
    .get('/:id', (visit) => show(visit, visit.params.id), { right: 'read' })
    .get('/:id/edit', (visit) => form(visit, { job: existing(visit, visit.params.id) }), {
      right: 'change',
    })
    .post('/:id/edit', (visit) => change(visit, visit.params.id, fieldsIn(visit.body)), {
      right: 'change',
    })
    .post('/:id/run', (visit) => run(visit, visit.params.id), { right: 'change' })
    .post('/:id/pause', (visit) => setActive(visit, visit.params.id, false), { right: 'change' })
    .post('/:id/resume', (visit) => setActive(visit, visit.params.id, true), { right: 'change' })
    .post('/:id/delete', (visit) => remove(visit, visit.params.id), { right: 'delete' })
}

const LONGEST_TITLE = 60

/** A form that comes back. */
interface Returned {
  job?: CronJob | undefined
  typed?: Fields
  errors?: Parameters<typeof JobFormPage>[0]['errors']
  preview?: Preview | undefined
}

/** The kit has read them, as of every form. */
const fieldsIn = (body: unknown): Fields => (body ?? {}) as Fields

const isPreview = (body: Fields): boolean => typed(body, 'intent') === 'preview'

const isAbout = ({ id, name }: CronJobLook, q: string): boolean =>
  id === q || name.toLowerCase().includes(q.toLowerCase())

const isIn = (job: CronJobLook, state: JobState | undefined): boolean =>
  state === undefined || (state === 'paused' ? !job.isActive : job.lastStatus === 'failed')

const fieldsOf = (job: CronJob): Fields => ({
  name: job.name,
  schedule: job.schedule,
  url: job.url,
  method: job.method,
  headers: headerLines(job.headers),
  body: job.body ?? '',
})

/** Only what is another than before: what a browser does to the ends of lines is no change. */
function changeIn(fields: Fields, job: CronJob): CronJobChange {
  const { name, url: target, method, headers, body } = callIn(fields)
  const schedule = typed(fields, 'schedule')
  return {
    ...(name !== job.name && { name }),
    ...(schedule !== job.schedule && { schedule }),
    ...(target !== job.url && { url: target }),
    ...(method !== job.method && { method }),
    ...(headerLines(headers) !== headerLines(job.headers) && { headers }),
    ...(bodyTextIn(fields) !== asUnix(job.body ?? '') && { body }),
  }
}

/**
 * How many slots passed without a run before each one that ran. Nobody knows it of the time before
 * the job was last edited: it had another schedule then, or none.
 */
function gapsIn(job: CronJob, attempts: readonly ExecutionLook[]): Map<number, number> {
  const schedule = scheduleOf(job.schedule)
  const since = Date.parse(job.updated_at)
  const ran = attempts.flatMap(({ trigger, slotAt }) =>
    trigger === 'schedule' && slotAt >= since ? [slotAt] : [],
  )
  const slots = [...new Set(ran)].sort((one, other) => one - other)
  const gaps = new Map<number, number>()
  for (const [index, slot] of slots.entries()) {
    const before = slots[index - 1]
    if (before === undefined) continue
    const skipped = countOccurrences(schedule, before, slot - 1, MOST_SKIPPED)
    if (skipped > 0) gaps.set(slot, skipped)
  }
  return gaps
}

const FLASHES: Readonly<Record<string, Flash>> = {
  created: { tone: 'good', text: 'Created. It runs by its schedule from now on.' },
  changed: { tone: 'good', text: 'Changed. Runs that are under way keep what they began with.' },
  unchanged: { tone: 'good', text: 'Nothing was different, so nothing has changed.' },
  asked: { tone: 'busy', text: 'A run is on its way. Its schedule does not move.' },
  paused: { tone: 'quiet', text: 'Paused. What waited to run is dropped.' },
  resumed: { tone: 'good', text: 'Resumed. Its schedule counts from now; nothing is caught up.' },
  deleted: { tone: 'good', text: 'Deleted, with all its runs.' },
}
