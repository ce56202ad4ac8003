import type { Execution } from '../../../../src/engines/clockwork/model.ts'
import type { ExecutionSummary } from '../../../../src/engines/clockwork/queries.ts'
import { DAY_MS } from '../../../../src/platform/durations.ts'
import { Time, utcMinute } from '../../time.tsx'
import type { Tone } from '../../tone.ts'

/** Label of an attempt, by status. */
export const OUTCOMES = {
  success: { tone: 'good', word: 'succeeded' },
  failed: { tone: 'bad', word: 'failed' },
  running: { tone: 'busy', word: 'running' },
} as const satisfies Record<Execution['status'], { tone: Tone; word: string }>

/** Outcome of an attempt: the response status, if there is one. */
export const outcomeOf = ({
  status,
  responseStatus,
}: Pick<ExecutionSummary, 'status' | 'responseStatus'>) =>
  status === 'running'
    ? 'Running'
    : responseStatus === null
      ? status === 'success'
        ? 'Succeeded'
        : 'No response'
      : `Status ${responseStatus}`

/** A number with thousands separators. */
export const amount = (number: number): string => number.toLocaleString('en')

/** The exact time of an event, and its distance if that is less than a day. */
export const UtcTime = ({ at, now }: { at: number; now: number }) => (
  <>
    {utcMinute(at)}{' '}
    {Math.abs(at - now) < DAY_MS && (
      <span class="hint">
        <Time at={at} now={now} />
      </span>
    )}
  </>
)
