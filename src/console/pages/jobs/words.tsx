import type { Tone } from '../../../../views/ui/status.tsx'
import { Time, utcMinute } from '../../../../views/ui/time.tsx'
import type { DelayedJob, Execution } from '../../../engines/clockwork/model.ts'
import type { ExecutionSummary } from '../../../engines/clockwork/queries.ts'
import { executionShownTo } from '../../../engines/clockwork/shown-job.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import { type PageContext, usePage } from '../../page.tsx'

/** Label of an attempt, by status. */
export const OUTCOMES = {
  success: { tone: 'good', word: 'succeeded' },
  failed: { tone: 'bad', word: 'failed' },
  running: { tone: 'busy', word: 'running' },
} as const satisfies Record<Execution['status'], { tone: Tone; word: string }>

/** Outcome of an attempt: the response status, if there is one. */
export function outcomeOf({
  status,
  responseStatus,
}: Pick<ExecutionSummary, 'status' | 'responseStatus'>): string {
  if (status === 'running') return 'Running'
  if (responseStatus !== null) return `Status ${responseStatus}`
  return status === 'success' ? 'Succeeded' : 'No response'
}

/** Labels of a delayed job's status: in a row, as a filter, and of the job's time. */
export const DELAYED_WORDS: Record<
  DelayedJob['status'],
  { tone: Tone; word: string; label: string; time: string }
> = {
  pending: { tone: 'quiet', word: 'pending', label: 'Pending', time: 'Runs' },
  running: { tone: 'busy', word: 'running', label: 'Running', time: 'Scheduled for' },
  success: { tone: 'good', word: 'succeeded', label: 'Succeeded', time: 'Scheduled for' },
  failed: { tone: 'bad', word: 'failed', label: 'Failed', time: 'Scheduled for' },
  cancelled: { tone: 'quiet', word: 'cancelled', label: 'Cancelled', time: 'Scheduled for' },
}

/** The exact time of an event, and its distance if that is less than a day. */
export function UtcTime({ at }: { at: number }) {
  const { now } = usePage()
  return (
    <>
      {utcMinute(at)}{' '}
      {Math.abs(at - now) < DAY_MS && (
        <span class="hint">
          <Time at={at} />
        </span>
      )}
    </>
  )
}

export interface JobAttempts {
  /** Newest first. */
  attempts: readonly ExecutionSummary[]
  selected: Execution | undefined
}

/** Attempts of a job, and the selected execution: from the query string, or the newest. */
export function attemptsOf(
  { clockwork: { queries }, tenantId, query, caller }: PageContext,
  job: { id: string; headers: Record<string, string> },
): JobAttempts {
  const attempts = queries.attempts(tenantId, job.id)
  const chosen = query.execution ?? attempts[0]?.id
  const found = chosen === undefined ? undefined : queries.attempt(tenantId, job.id, chosen)
  if (chosen !== undefined && !found) fail(notFound('execution not found'))
  return { attempts, selected: found && executionShownTo(caller('clockwork'), job, found) }
}
