import { maskHeaders } from '../../delivery/custom-headers.ts'
import type { Caller } from '../../platform/keys.ts'

/**
 * A job as its reader may see it: with what its headers keep secret, somebody who may only look
 * could call the target all the same.
 */
export const shownTo = <Job extends { headers: Record<string, string> }>(
  { mayOnlyLook = false }: Pick<Caller, 'mayOnlyLook'>,
  job: Job,
): Job => (mayOnlyLook ? { ...job, headers: maskHeaders(job.headers) } : job)
