import type { Db } from '../../../db/open.ts'
import { createAttemptSummaries } from './attempt-summaries.ts'
import { createCronJobStore } from './cron-jobs.ts'
import { createDelayedJobStore } from './delayed-jobs.ts'
import { createExecutionStore } from './executions.ts'
import { createHourStore } from './hours.ts'
import { createJobSummaries } from './job-summaries.ts'
import { createJobCountStore, createSkippedSlotStore } from './ledgers.ts'
import { createReadModel } from './read-model.ts'
import { createRunStore } from './runs.ts'
import { createSigningSecretStore } from './signing-secrets.ts'

export type Store = ReturnType<typeof createStore>

/** All SQL of the engine, one file per table. Summaries and the read model serve pages. */
export const createStore = (db: Db) => ({
  cronJobs: createCronJobStore(db),
  delayedJobs: createDelayedJobStore(db),
  runs: createRunStore(db),
  signingSecrets: createSigningSecretStore(db),
  executions: createExecutionStore(db),
  hours: createHourStore(db),
  counts: createJobCountStore(db),
  skipped: createSkippedSlotStore(db),
  jobSummaries: createJobSummaries(db),
  readModel: createReadModel(db),
  attemptSummaries: createAttemptSummaries(db),
})
