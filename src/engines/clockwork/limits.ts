/** Cron jobs per tenant, and delayed jobs per tenant. Their lists are not paged. */
export const JOBS_PER_TENANT = 10_000

/** Total size of a tenant's jobs in bytes. Keeps one list from delaying other tenants. */
export const JOB_BYTES_PER_TENANT = 16 * 1024 * 1024

/** Runs of one cron job that may be ready or in progress at the same time. */
export const RUNS_IN_FLIGHT = 2

/** The same for a job that allows overlapping runs. */
export const RUNS_ALLOWED = 20

/** Executions that the list of a cron job shows, and the fewest kept per job. */
export const LISTED_EXECUTIONS = 100
