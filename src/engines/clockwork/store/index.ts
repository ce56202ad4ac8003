import type { Db } from '../../../db/open.ts'
import { createAttemptSummaries } from './attempt-summaries.ts'
import { createCronJobLists } from './cron-job-lists.ts'
import { createCronJobStore } from './cron-jobs.ts'
import { createDelayedJobLists } from './delayed-job-lists.ts'
import { createDelayedJobStore } from './delayed-jobs.ts'
import { createExecutionStore } from './executions.ts'
import { createHourStore } from './hours.ts'
import { createJobCountStore, createSkippedSlotStore } from './ledgers.ts'
import { createReadModel } from './read-model.ts'
import { createRunStore } from './runs.ts'
import { createSigningSecretStore } from './signing-secrets.ts'

export type Store = ReturnType<typeof createStore>

/** All SQL of the engine, one file per table. Lists, summaries and the read model serve pages. */
export const createStore = (db: Db) => ({
  cronJobs: createCronJobStore(db),
  delayedJobs: createDelayedJobStore(db),
  runs: createRunStore(db),
  signingSecrets: createSigningSecretStore(db),
  executions: createExecutionStore(db),
  hours: createHourStore(db),
  counts: createJobCountStore(db),
  skipped: createSkippedSlotStore(db),
  cronJobLists: createCronJobLists(db),
  delayedJobLists: createDelayedJobLists(db),
  readModel: createReadModel(db),
  attemptSummaries: createAttemptSummaries(db),
})
