import { Elysia, t } from 'elysia'
import { Rotation } from '../../http/delivery-log/model.ts'
import { Empty, PlainErrors, refusalsIn } from '../../http/responses.ts'
import type { Scoped } from '../../http/scoped.ts'
import type { CronJobs } from './cron-jobs.ts'
import type { DelayedJobs } from './delayed-jobs.ts'
import {
  CronJob,
  CronJobChange,
  CronJobDetail,
  DelayedJob,
  Execution,
  NewCronJob,
  NewDelayedJob,
  Preview,
  PreviewRequest,
  RunAccepted,
  SigningSecret,
  TaggedWith,
} from './model.ts'
import { shownTo } from './shown-job.ts'
import type { SigningSecrets } from './signing-secret.ts'

const { 404: Unknown, 409: Conflict } = PlainErrors
const { refused, badBody, spent } = refusalsIn(PlainErrors)
const scope = 'clockwork'

/** As in contract/clockwork, endpoints, plus single reads, run now and preview, for each prefix. */
export function createRoutes(parts: {
  prefix: string
  access: Scoped
  jobs: CronJobs
  delayed: DelayedJobs
  preview: (request: PreviewRequest) => Preview
  signingSecrets: SigningSecrets
}) {
  const { prefix, access, jobs, delayed, preview, signingSecrets } = parts

  return new Elysia({ prefix, tags: ['clockwork'] })
    .use(access)
    .get(
      '/jobs',
      ({ caller, query }) =>
        jobs.list(caller.tenantId, query.tag).map((job) => shownTo(caller, job)),
      {
        scope,
        detail: { summary: 'List cron jobs', description: 'Newest first.' },
        query: TaggedWith,
        response: { 200: t.Array(CronJob), ...refused },
      },
    )
    .post(
      '/jobs',
      async ({ caller, body, status }) => {
        const { job, isNew } = await jobs.createOnce(caller, body)
        return status(isNew ? 201 : 200, job)
      },
      {
        scope,
        detail: { summary: 'Create a cron job' },
        body: NewCronJob,
        response: { 200: CronJob, 201: CronJob, ...badBody, ...refused, ...spent, 409: Conflict },
      },
    )
    .post('/jobs/preview', ({ body }) => preview(body), {
      scopeToRead: scope,
      detail: {
        summary: 'Preview a schedule',
        description:
          'Returns the next ten runs, warnings, and whether the URL is allowed. Stores nothing.',
      },
      body: PreviewRequest,
      response: { 200: Preview, ...badBody, ...refused },
    })
    .get(
      '/jobs/:job_id',
      ({ caller, params }) => shownTo(caller, jobs.get(caller.tenantId, params.job_id)),
      {
        scope,
        detail: {
          summary: 'Get a cron job',
          description: 'Includes the number of runs skipped in the last 30 days.',
        },
        response: { 200: CronJobDetail, ...refused, 404: Unknown },
      },
    )
    .patch(
      '/jobs/:job_id',
      ({ caller, params, body }) => jobs.update(caller, params.job_id, body),
      {
        scope,
        detail: {
          summary: 'Update, pause or resume a cron job',
          description: 'Changes only the given fields. Replaces `headers` and `body` as a whole.',
        },
        body: CronJobChange,
        response: { 200: CronJob, ...badBody, ...refused, 404: Unknown },
      },
    )
    .delete(
      '/jobs/:job_id',
      ({ caller, params, status }) =>
        jobs.remove(caller, params.job_id).then(() => status(204, undefined)),
      {
        scope,
        detail: { summary: 'Delete a cron job and its executions' },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
    .post(
      '/jobs/:job_id/run',
      async ({ caller, params, status }) => status(202, await jobs.runNow(caller, params.job_id)),
      {
        scope,
        detail: { summary: 'Run a cron job now', description: 'The schedule does not change.' },
        response: { 202: RunAccepted, ...refused, ...spent, 404: Unknown, 409: Conflict },
      },
    )
    .get(
      '/jobs/:job_id/executions',
      ({ caller, params }) => jobs.executions(caller, params.job_id),
      {
        scope,
        detail: {
          summary: 'List executions of a cron job',
          description: 'The last 100, newest first.',
        },
        response: { 200: t.Array(Execution), ...refused, 404: Unknown },
      },
    )
    .get(
      '/delayed',
      ({ caller, query }) =>
        delayed.list(caller.tenantId, query.tag).map((job) => shownTo(caller, job)),
      {
        scope,
        detail: { summary: 'List delayed jobs', description: 'Sorted by `run_at`.' },
        query: TaggedWith,
        response: { 200: t.Array(DelayedJob), ...refused },
      },
    )
    .post(
      '/delayed',
      async ({ caller, body, status }) => {
        const { job, isNew } = await delayed.createOnce(caller, body)
        return status(isNew ? 201 : 200, job)
      },
      {
        scope,
        detail: { summary: 'Create a delayed job' },
        body: NewDelayedJob,
        response: {
          200: DelayedJob,
          201: DelayedJob,
          ...badBody,
          ...refused,
          ...spent,
          409: Conflict,
        },
      },
    )
    .get(
      '/delayed/:job_id',
      ({ caller, params }) => shownTo(caller, delayed.get(caller.tenantId, params.job_id)),
      {
        scope,
        detail: { summary: 'Get a delayed job' },
        response: { 200: DelayedJob, ...refused, 404: Unknown },
      },
    )
    .delete(
      '/delayed/:job_id',
      ({ caller, params, status }) =>
        delayed.cancel(caller, params.job_id).then(() => status(204, undefined)),
      {
        scope,
        detail: { summary: 'Cancel a delayed job', description: 'Only while it is `pending`.' },
        response: { 204: Empty, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .get(
      '/delayed/:job_id/executions',
      ({ caller, params }) => delayed.executions(caller, params.job_id),
      {
        scope,
        detail: { summary: 'List executions of a delayed job', description: 'Newest first.' },
        response: { 200: t.Array(Execution), ...refused, 404: Unknown },
      },
    )
    .get('/signing-secret', ({ caller }) => signingSecrets.get(caller), {
      scope,
      detail: {
        summary: 'Get the signing secret of jobs',
        description: 'The first signed job creates it.',
      },
      response: { 200: SigningSecret, ...refused },
    })
    .post('/signing-secret/rotate', ({ caller, body }) => signingSecrets.replace(caller, body), {
      scope,
      detail: {
        summary: 'Rotate the signing secret of jobs',
        description: 'The previous secret also signs during the grace period.',
      },
      body: t.Nullable(Rotation),
      response: { 200: SigningSecret, ...badBody, ...refused, 409: Conflict },
    })
}
