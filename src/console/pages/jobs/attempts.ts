import type { Execution } from '../../../engines/clockwork/model.ts'
import type { ExecutionSummary } from '../../../engines/clockwork/queries.ts'
import { executionShownTo } from '../../../engines/clockwork/shown-job.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import type { PageContext } from '../../page.tsx'

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
