import { maskHeaders } from '../../../delivery/custom-headers.ts'
import type { Caller } from '../../../platform/keys.ts'

/**
 * A job as a page shows it: not with what its headers keep secret where somebody may only look. The
 * routes for sessions answer as those for keys, whoever asks.
 */
export const shownTo = <Job extends { headers: Record<string, string> }>(
  { mayOnlyLook = false }: Pick<Caller, 'mayOnlyLook'>,
  job: Job,
): Job => (mayOnlyLook ? { ...job, headers: maskHeaders(job.headers) } : job)
