import { sealedColumn } from '../../platform/sealing/column.ts'
import { monitorToken } from './monitors/sealed.ts'
import { cronJobs, delayedJobs, jobSigningSecrets, runs } from './schema.ts'

const PURPOSE = 'jobs'
const boundToCronJob = ({ id }: Readonly<Record<'id', string>>) => `cron_jobs/${id}/secret_headers`

export const cronJobHeaders = sealedColumn({
  column: cronJobs.secretHeaders,
  property: 'sealed',
  purpose: PURPOSE,
  named: { id: cronJobs.id },
  boundTo: boundToCronJob,
})

/** Of the job before it was edited. */
const runHeaders = sealedColumn({
  column: runs.request,
  property: 'secretHeaders',
  purpose: PURPOSE,
  named: { id: runs.jobId },
  boundTo: boundToCronJob,
})

export const delayedJobHeaders = sealedColumn({
  column: delayedJobs.secretHeaders,
  property: 'sealed',
  purpose: PURPOSE,
  named: { id: delayedJobs.id },
  boundTo: ({ id }) => `delayed_jobs/${id}/secret_headers`,
})

export const signingSecrets = sealedColumn({
  column: jobSigningSecrets.secrets,
  purpose: PURPOSE,
  named: { tenantId: jobSigningSecrets.tenantId },
  boundTo: ({ tenantId }) => `job_signing_secrets/${tenantId}/secrets`,
})

/** The sealed columns of the scheduler. */
export const sealed = [
  ...[cronJobHeaders, runHeaders, delayedJobHeaders, signingSecrets],
  monitorToken,
]
