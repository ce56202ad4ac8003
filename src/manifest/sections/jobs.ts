import { t } from 'elysia'
import type { CronJobs } from '../../engines/clockwork/cron-jobs.ts'
import { NewCronJob } from '../../engines/clockwork/model.ts'
import { collection, type Item } from '../section.ts'
import { mask } from '../values.ts'

const { deduplication_id: _, ...fields } = NewCronJob.properties
const Job = t.Object(fields, { additionalProperties: false })

const DEFAULTS = {
  time_zone: 'UTC',
  method: 'POST',
  headers: {},
  body: null,
  timeout_ms: null,
  retry: null,
  success_statuses: null,
  secret_headers: {},
  signed: false,
  reuse_connection: false,
  tags: [],
  notes: null,
  overlap: 'skip',
  alert_after: 1,
} satisfies Partial<NewCronJob>

/** Recurring jobs. Whether a job is paused stays as it is, unless a manifest says so. */
export const jobsSection = (jobs: CronJobs) =>
  collection<NewCronJob>({
    name: 'jobs',
    noun: 'job',
    key: 'name',
    schema: Job,
    defaultsOf: () => DEFAULTS,
    initial: { is_active: true },
    masked: (item: Item) => ({ ...item, secret_headers: mask(item.secret_headers) }),
    list: ({ tenantId }) => jobs.unmasked(tenantId).map((job) => ({ id: job.id, item: job })),
    create: (caller, job) => jobs.create(caller, job),
    update: (caller, id, change) => jobs.update(caller, id, change),
    remove: (caller, id) => jobs.remove(caller, id),
  })
