import type { Db } from '../../db/open.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Caller } from '../../platform/caller.ts'
import type { Clock } from '../../platform/clock.ts'
import { conflict, fail, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Metering } from '../../platform/metering/index.ts'
import type { Outbound } from '../../platform/outbound/index.ts'
import type { CompleteDelayedJob } from './complete-delayed-job.ts'
import { DEFAULT_OPTIONS, optionColumns } from './job-options.ts'
import { JOB_BYTES_PER_TENANT, JOBS_PER_TENANT } from './limits.ts'
import type { Created, DelayedJob, Execution, NewDelayedJob } from './model.ts'
import { presentDelayedJob, presentExecution } from './present.ts'
import { checkRequest, hostOf } from './request.ts'
import { parseRunAt } from './run-at.ts'
import type { SecretHeaders } from './secret-headers.ts'
import { executionShownTo } from './shown-job.ts'
import type { SigningSecrets } from './signing-secret.ts'
import type { DelayedJobRow } from './store/delayed-jobs.ts'
import type { Store } from './store/index.ts'
import type { JobCounts } from './store/ledgers.ts'
import { sizeOf } from './store/size.ts'

export type DelayedJobs = ReturnType<typeof createDelayedJobs>

/** More than the attempts of the longest retry schedule. */
const ALL_EXECUTIONS = 1000

/** One-shot jobs: contract/clockwork, delayed jobs. */
export function createDelayedJobs(parts: {
  db: Db
  clock: Clock
  audit: Audit
  outbound: Outbound
  store: Store
  secretHeaders: SecretHeaders
  signingSecrets: SigningSecrets
  metering: Metering
  completeDelayedJob: CompleteDelayedJob
  /** Announces a due time to the loop. */
  expect: (at: number) => void
}) {
  const { db, clock, audit, outbound, store, metering, completeDelayedJob, expect } = parts
  const { secretHeaders, signingSecrets } = parts

  /** All jobs, or those with a tag. */
  const list = (tenantId: string, tag?: string): DelayedJob[] =>
    store.delayedJobs
      .list(tenantId)
      .map(presentDelayedJob)
      .filter(({ tags }) => tag === undefined || tags.includes(tag))

  const get = (tenantId: string, id: string): DelayedJob =>
    presentDelayedJob(existing(tenantId, id))

  /** The job that was created with the same `deduplication_id`. */
  const duplicateOf = (tenantId: string, { deduplication_id: id }: NewDelayedJob) =>
    id === undefined ? undefined : store.delayedJobs.findDuplicate(tenantId, id)

  /**
   * Creates a job, unless there is one with the same `deduplication_id`. `also` runs in the same
   * commit, so that both are stored or neither.
   */
  async function createOnce(
    caller: Caller,
    input: NewDelayedJob,
    also: (id: string) => void = () => {},
  ): Promise<Created<DelayedJob>> {
    const { tenantId } = caller
    const known = duplicateOf(tenantId, input)
    if (known) return { job: presentDelayedJob(known), isNew: false }
    const now = clock.now()
    const runAt = parseRunAt(input.run_at, now)
    checkRequest(outbound, input)
    metering.reserve(caller)
    const row = newRow(tenantId, input, runAt, now)
    const duplicate = await db.commitFor(tenantId, () => {
      const other = duplicateOf(tenantId, input)
      if (other) return other
      makeRoom(tenantId, store.counts.add(tenantId, { delayedJobs: 1, bytes: sizeOf(row) }))
      store.runs.insert({
        tenantId,
        jobKind: 'delayed',
        jobId: row.id,
        trigger: 'schedule',
        slotAt: runAt,
        dueAt: runAt,
        state: 'waiting',
        host: hostOf(input.url),
      })
      store.delayedJobs.insert(row)
      if (row.isSigned) signingSecrets.ensure(tenantId)
      also(row.id)
      return undefined
    })
    if (duplicate) return { job: presentDelayedJob(duplicate), isNew: false }
    expect(runAt)
    return { job: presentDelayedJob(row), isNew: true }
  }

  /** The new job, or the earlier one. */
  const create = async (...of: Parameters<typeof createOnce>): Promise<DelayedJob> =>
    (await createOnce(...of)).job

  /** Deletes the oldest ended jobs to stay within a tenant's limits: the list is not paged. */
  function makeRoom(tenantId: string, stored: JobCounts) {
    let { delayedJobs, bytes } = stored
    while (delayedJobs > JOBS_PER_TENANT || bytes > JOB_BYTES_PER_TENANT) {
      const gone = store.delayedJobs.removeOldestEnded(tenantId)
      if (gone === undefined) throw conflict(limitReached(delayedJobs))
      store.executions.dropOfJob(tenantId, gone.id)
      const left = store.counts.add(tenantId, { delayedJobs: -1, bytes: -gone.bytes })
      delayedJobs = left.delayedJobs
      bytes = left.bytes
    }
  }

  /** Cancels a pending job, which includes a job that waits for a retry. */
  function cancel(caller: Caller, id: string): Promise<void> {
    const { tenantId } = caller
    return db.commitFor(tenantId, () => {
      const { status } = existing(tenantId, id)
      const step = { from: 'pending', to: 'cancelled', now: clock.now() } as const
      if (!completeDelayedJob(tenantId, id, step))
        throw conflict(`only a pending job can be cancelled; this one is ${status}`)
      store.runs.drop(tenantId, id)
      const actor = caller.actor
      audit.record({
        tenantId,
        actor,
        action: 'delayed_job.cancelled',
        object: `delayed_job:${id}`,
      })
    })
  }

  function executions(caller: Caller, id: string): Execution[] {
    const { tenantId } = caller
    const job = presentDelayedJob(existing(tenantId, id))
    return store.executions
      .newest(tenantId, id, ALL_EXECUTIONS)
      .map((row) => executionShownTo(caller, job, presentExecution(row)))
  }

  const existing = (tenantId: string, id: string): DelayedJobRow =>
    store.delayedJobs.find(tenantId, id) ?? fail(notFound('job not found'))

  function newRow(tenantId: string, input: NewDelayedJob, runAt: number, now: number) {
    const { name, url, method = 'POST', headers = {}, body = null } = input
    const id = newId()
    return {
      id,
      tenantId,
      name,
      runAt,
      url,
      method,
      headers: JSON.stringify(headers),
      body,
      ...DEFAULT_OPTIONS,
      ...optionColumns(input),
      secretHeaders: secretHeaders.stored('delayed', id, input.secret_headers ?? {}, null),
      deduplicationId: input.deduplication_id ?? null,
      status: 'pending' as const,
      createdAt: now,
      updatedAt: now,
    }
  }

  return { list, get, create, createOnce, cancel, executions }
}

const limitReached = (delayedJobs: number) =>
  delayedJobs > JOBS_PER_TENANT
    ? `limit reached: ${JOBS_PER_TENANT} pending or running delayed jobs`
    : `limit reached: ${JOB_BYTES_PER_TENANT} bytes of jobs; delete some, or make them smaller`
