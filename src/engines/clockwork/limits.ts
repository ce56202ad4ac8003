/** Cron jobs, and likewise delayed jobs, that a tenant may have: their lists are not paged. */
export const JOBS_PER_TENANT = 10_000

/** What all jobs of a tenant may come to, in bytes: one list must not hold up everybody else. */
export const JOB_BYTES_PER_TENANT = 16 * 1024 * 1024

/** Runs of one cron job that may be ready or under way at once. */
export const RUNS_IN_FLIGHT = 2

/** Executions that the list of a cron job shows, and the least that is kept of each. */
export const LISTED_EXECUTIONS = 100
