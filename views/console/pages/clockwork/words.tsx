import type { ExecutionLook } from '../../../../src/engines/clockwork/looks.ts'
import type { Execution } from '../../../../src/engines/clockwork/model.ts'
import { Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'

/** How an attempt stands, by its status. */
export const OUTCOMES = {
  success: { tone: 'good', word: 'succeeded' },
  failed: { tone: 'bad', word: 'failed' },
  running: { tone: 'busy', word: 'running' },
} as const satisfies Record<Execution['status'], { tone: Tone; word: string }>

/** What came of an attempt, in a line. */
export const outcomeOf = ({
  status,
  responseStatus,
}: Pick<ExecutionLook, 'status' | 'responseStatus'>) =>
  status === 'running'
    ? 'Under way'
    : responseStatus === null
      ? status === 'success'
        ? 'Succeeded'
        : 'No answer'
      : `Answered ${responseStatus}`

export const amount = (number: number): string => number.toLocaleString('en')

/** A time to plan by: the instant and how far away it is. */
export const UtcTime = ({ at, now }: { at: number; now: number }) => (
  <>
    {new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC{' '}
    <span class="hint">
      <Time at={at} now={now} />
    </span>
  </>
)
