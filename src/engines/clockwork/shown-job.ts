import { hideValues, maskHeaders } from '../../delivery/custom-headers.ts'
import type { Caller } from '../../platform/caller.ts'
import type { Execution } from './model.ts'

type Reader = Pick<Caller, 'isReadOnly'>
type Headers = Record<string, string>

/**
 * A job as its reader may see it. The values of secret headers are masked for a caller that may only
 * read, such as a viewer: with them, the viewer could call the target.
 */
export const shownTo = <Job extends { headers: Headers }>(
  { isReadOnly = false }: Reader,
  job: Job,
): Job => (isReadOnly ? { ...job, headers: maskHeaders(job.headers) } : job)

/** An execution as its reader may see it: what the target repeats of these values is masked too. */
export const executionShownTo = (
  { isReadOnly = false }: Reader,
  { headers }: { headers: Headers },
  execution: Execution,
): Execution =>
  isReadOnly && execution.response_body !== null
    ? { ...execution, response_body: hideValues(headers, execution.response_body) }
    : execution
