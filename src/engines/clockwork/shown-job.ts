import { hideValues, maskHeaders } from '../../delivery/custom-headers.ts'
import type { Caller } from '../../platform/caller.ts'
import type { Execution } from './model.ts'

type Reader = Pick<Caller, 'isReadOnly'>
type Headers = Record<string, string>

/** Masks secret headers for read-only callers, who could otherwise call the target themselves. */
export const shownTo = <Job extends { headers: Headers }>(
  { isReadOnly = false }: Reader,
  job: Job,
): Job => (isReadOnly ? { ...job, headers: maskHeaders(job.headers) } : job)

/** Masks secret header values that the target's response repeats, for read-only callers. */
export const executionShownTo = (
  { isReadOnly = false }: Reader,
  { headers }: { headers: Headers },
  execution: Execution,
): Execution =>
  isReadOnly && execution.response_body !== null
    ? { ...execution, response_body: hideValues(headers, execution.response_body) }
    : execution
