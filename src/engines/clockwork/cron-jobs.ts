import type { Db } from '../../db/open.ts'
import type { Alerts } from '../../platform/alerts/index.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Caller } from '../../platform/caller.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import { conflict, fail, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Metering } from '../../platform/metering/index.ts'
import type { Outbound } from '../../platform/outbound/index.ts'
import { changedRow, columnsOf, keptRequest, nextSlot } from './cron-job-row.ts'
import { JOB_BYTES_PER_TENANT, JOBS_PER_TENANT, LISTED_EXECUTIONS } from './limits.ts'
import type {
  Created,
  CronJob,
  CronJobChange,
  CronJobDetail,
  Execution,
  NewCronJob,
  RunAccepted,
} from './model.ts'
import { placeFor, tooManyRuns } from './overlap.ts'
import { presentCronJob, presentCronJobDetail, presentExecution } from './present.ts'
import { checkRequest, hostOf } from './request.ts'
import { scheduleOf } from './schedule/index.ts'
import type { SecretHeaders } from './secret-headers.ts'
import { executionShownTo } from './shown-job.ts'
import type { SigningSecrets } from './signing-secret.ts'
import type { CronJobRow } from './store/cron-jobs.ts'
import type { Store } from './store/index.ts'
import type { JobCounts } from './store/ledgers.ts'
import { sizeOf } from './store/size.ts'

export type CronJobs = ReturnType<typeof createCronJobs>

/** Recurring jobs: contract/clockwork, cron jobs. All times in answers are in UTC. */
export function createCronJobs(parts: {
  db: Db
  clock: Clock
  audit: Audit
  alerts: Alerts
  outbound: Outbound
  store: Store
  secretHeaders: SecretHeaders
  signingSecrets: SigningSecrets
  metering: Metering
  /** Wakes the loop for a run that is ready. */
  nudge: () => void
  /** Announces a due time to the loop. */
  expect: (at: number) => void
}) {
  const { db, clock, audit, alerts, outbound, store, metering, nudge, expect } = parts
  const { secretHeaders, signingSecrets } = parts

  /** All jobs, or those with a tag. */
  const list = (tenantId: string, tag?: string): CronJob[] =>
    store.cronJobs
      .list(tenantId)
      .map(presentCronJob)
      .filter(({ tags }) => tag === undefined || tags.includes(tag))

  const get = (tenantId: string, id: string): CronJobDetail =>
    presentCronJobDetail(existing(tenantId, id), store.skipped.totals(id))

  /** All jobs with the headers that answers mask; without those that can't be decrypted. */
  const unmasked = (tenantId: string) =>
    store.cronJobs
      .list(tenantId)
      .map((row) => ({
        ...presentCronJob(row),
        secret_headers: secretHeaders.readable('cron', row.id, row.secretHeaders),
      }))

  /** The job that was created with the same `deduplication_id`. */
  const duplicateOf = (tenantId: string, { deduplication_id: id }: NewCronJob) =>
    id === undefined ? undefined : store.cronJobs.findDuplicate(tenantId, id)

  /** Creates a job, unless there is one with the same `deduplication_id`. */
  async function createOnce(caller: Caller, input: NewCronJob): Promise<Created<CronJob>> {
    const { tenantId } = caller
    const known = duplicateOf(tenantId, input)
    if (known) return { job: presentCronJob(known), isNew: false }
    checkRequest(outbound, input)
    const row = newRow(tenantId, input, clock.now())
    metering.reserve(caller)
    const duplicate = await db.commitFor(tenantId, () => {
      const other = duplicateOf(tenantId, input)
      if (other) return other
      const stored = store.counts.add(tenantId, { cronJobs: 1, bytes: sizeOf(row) })
      if (stored.cronJobs > JOBS_PER_TENANT)
        throw conflict(`limit reached: ${JOBS_PER_TENANT} cron jobs; delete one first`)
      refuseOversize(stored)
      store.cronJobs.insert(row)
      if (row.isSigned) signingSecrets.ensure(tenantId)
      record(caller, 'job.created', row.id)
      return undefined
    })
    if (duplicate) return { job: presentCronJob(duplicate), isNew: false }
    expect(row.nextRunAt)
    return { job: presentCronJob(row), isNew: true }
  }

  /** The new job, or the earlier one. */
  const create = async (caller: Caller, input: NewCronJob): Promise<CronJob> =>
    (await createOnce(caller, input)).job

  /** New schedules and resumed jobs start from now. Open runs keep the request they began with. */
  async function update(caller: Caller, id: string, change: CronJobChange): Promise<CronJob> {
    const { tenantId } = caller
    checkRequest(outbound, change)
    if (change.schedule !== undefined) scheduleOf(change.schedule)
    const saved = await db.commitFor(tenantId, () => {
      const old = existing(tenantId, id)
      const changed = {
        ...changedRow(old, change, clock.now()),
        ...(change.secret_headers !== undefined && {
          secretHeaders: secretHeaders.stored('cron', id, change.secret_headers, old.secretHeaders),
        }),
      }
      if (changed.isSigned) signingSecrets.ensure(tenantId)
      if (keptRequest(old) !== keptRequest(changed))
        store.runs.keepRequest(tenantId, id, keptRequest(old))
      if (old.isActive && !changed.isActive) {
        store.runs.dropUnstarted(tenantId, id)
        alerts.close(tenantId, `job:${id}`)
      }
      const growth = sizeOf(changed) - sizeOf(old)
      const stored = store.counts.add(tenantId, { bytes: growth })
      if (growth > 0) refuseOversize(stored)
      record(caller, 'job.updated', id, { fields: Object.keys(change) })
      return store.cronJobs.save(changed) ?? fail(notFound('job not found'))
    })
    expect(saved.nextRunAt)
    return presentCronJob(saved)
  }

  /** Deletes a job with all its executions. An attempt in progress ends unrecorded. */
  function remove(caller: Caller, id: string): Promise<void> {
    const { tenantId } = caller
    return db.commitFor(tenantId, () => {
      const bytes = store.cronJobs.remove(tenantId, id) ?? fail(notFound('job not found'))
      store.runs.drop(tenantId, id)
      store.executions.dropOfJob(tenantId, id)
      store.skipped.drop(id)
      alerts.close(tenantId, `job:${id}`)
      store.counts.add(tenantId, { cronJobs: -1, bytes: -bytes })
      record(caller, 'job.deleted', id)
    })
  }

  /**
   * Starts one run immediately, also of a paused job, without changing the schedule. Counts as new
   * work for metering, like a new job.
   */
  async function runNow(caller: Caller, id: string): Promise<RunAccepted> {
    const { tenantId } = caller
    const now = clock.now()
    await db.commitFor(tenantId, () => {
      const job = existing(tenantId, id)
      metering.reserve(caller)
      const state = placeFor(store, job) ?? fail(tooManyRuns(job))
      store.runs.insert({
        tenantId,
        jobKind: 'cron',
        jobId: id,
        trigger: 'manual',
        slotAt: now,
        dueAt: now,
        state,
        host: hostOf(job.url),
      })
      record(caller, 'job.run', id)
    })
    nudge()
    return { job_id: id, requested_at: isoTime(now) }
  }

  function executions(caller: Caller, id: string): Execution[] {
    const { tenantId } = caller
    const job = presentCronJob(existing(tenantId, id))
    return store.executions
      .newest(tenantId, id, LISTED_EXECUTIONS)
      .map((row) => executionShownTo(caller, job, presentExecution(row)))
  }

  const record = (caller: Caller, action: string, id: string, detail?: Record<string, unknown>) =>
    audit.record({
      tenantId: caller.tenantId,
      actor: caller.actor,
      action,
      object: `job:${id}`,
      ...(detail && { detail }),
    })

  const existing = (tenantId: string, id: string): CronJobRow =>
    store.cronJobs.find(tenantId, id) ?? fail(notFound('job not found'))

  function newRow(tenantId: string, input: NewCronJob, now: number) {
    const columns = columnsOf(input)
    const id = newId()
    return {
      ...columns,
      id,
      tenantId,
      secretHeaders: secretHeaders.stored('cron', id, input.secret_headers ?? {}, null),
      lastRunAt: null,
      failedRuns: 0,
      lastStatus: null,
      nextRunAt: nextSlot(columns, now),
      createdAt: now,
      updatedAt: now,
    }
  }

  return { list, unmasked, get, create, createOnce, update, remove, runNow, executions }
}

function refuseOversize({ bytes }: JobCounts) {
  if (bytes > JOB_BYTES_PER_TENANT)
    throw conflict(
      `limit reached: ${JOB_BYTES_PER_TENANT} bytes of jobs; delete some, or make them smaller`,
    )
}
