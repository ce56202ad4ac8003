import { maskHeaders } from '../../delivery/custom-headers.ts'
import type { Caller } from '../../platform/keys.ts'

/**
 * A job as its reader may see it. The values of secret headers are masked for a caller that may only
 * read, such as a viewer: with them, the viewer could call the target.
 */
export const shownTo = <Job extends { headers: Record<string, string> }>(
  { mayOnlyLook = false }: Pick<Caller, 'mayOnlyLook'>,
  job: Job,
): Job => (mayOnlyLook ? { ...job, headers: maskHeaders(job.headers) } : job)
