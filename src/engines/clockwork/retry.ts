import { SECOND_MS } from '../../platform/durations.ts'
import { MAX_DELAY_S, type RetryOptions } from './job-options.ts'
import { matchesStatus, type StatusPattern } from './status-patterns.ts'
import type { Tick } from './tick.ts'

/** When and after what a run is tried again. */
export interface RetryPolicy {
  /** The delay before each retry, in milliseconds; a run has one attempt more. */
  delaysMs: readonly number[]
  statuses: readonly StatusPattern[]
  onNetworkError: boolean
}

/** By the contract. */
const RETRIED: readonly StatusPattern[] = ['5xx', 429]
const DEFAULT_ATTEMPTS = 3
const DEFAULT_DELAY_MS = 60 * SECOND_MS

/** The retries of a job. What its options leave out is as for a job without them. */
export function retryPolicyOf(
  options: RetryOptions | null,
  defaultDelaysMs: readonly number[],
): RetryPolicy {
  const { statuses = RETRIED, on_network_error: onNetworkError = true } = options ?? {}
  return { delaysMs: delaysOf(options ?? {}, defaultDelaysMs), statuses, onNetworkError }
}

/** A list of delays that is too short for the attempts goes on with its last one. */
function delaysOf(options: RetryOptions, defaultDelaysMs: readonly number[]): readonly number[] {
  const { max_attempts: attempts, delays, backoff } = options
  if (backoff) {
    const { initial_seconds, factor = 2, max_seconds = Number.POSITIVE_INFINITY } = backoff
    return listOf(
      (attempts ?? DEFAULT_ATTEMPTS) - 1,
      (index) => Math.min(initial_seconds * factor ** index, max_seconds, MAX_DELAY_S) * SECOND_MS,
    )
  }
  const list = delays ? delays.map((seconds) => seconds * SECOND_MS) : defaultDelaysMs
  const last = list.at(-1) ?? DEFAULT_DELAY_MS
  return attempts === undefined ? list : listOf(attempts - 1, (index) => list[index] ?? last)
}

const listOf = (length: number, at: (index: number) => number): number[] =>
  Array.from({ length }, (_, index) => at(index))

/** Whether a failure is retried: with a status, or null if the request never completed. */
export const isRetried = (
  status: number | null,
  { statuses, onNetworkError }: RetryPolicy,
): boolean => (status === null ? onNetworkError : matchesStatus(statuses, status))

/**
 * The tick of the next attempt, never before the failed one's end; undefined if none is left. The
 * delay counts from the tick that started the failed one, so that a late start adds no tick.
 */
export function nextAttemptAt(
  failed: { attempt: number; startedAt: number; completedAt: number },
  delaysMs: readonly number[],
  tick: Tick,
): number | undefined {
  const delay = delaysMs[failed.attempt - 1]
  if (delay === undefined) return undefined
  return tick.ceil(Math.max(tick.origin(failed.startedAt) + delay, failed.completedAt))
}
